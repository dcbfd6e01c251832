"""Floor 2: points to candidate links to matching to tracks. Knows nothing of screens."""
