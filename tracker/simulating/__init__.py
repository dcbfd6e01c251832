"""Movies with a known truth: persistent walkers and their pictures."""
