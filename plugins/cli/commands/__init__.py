"""One file a command: its options, its help, and what it calls."""
