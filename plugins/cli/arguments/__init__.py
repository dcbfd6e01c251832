"""What a command is given: options, settings, settings files."""
