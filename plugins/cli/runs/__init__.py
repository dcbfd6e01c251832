"""Runs over many inputs: which there are, what each is expected to take, what became of it."""
