"""The plugin driven by scripts, for pictures of its states and for what they take; not in the wheel."""
