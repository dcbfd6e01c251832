"""Expectation-maximisation: its starts, its rounds, and whether the links that it finds are more than chance."""
