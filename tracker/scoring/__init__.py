"""Tracks against a known truth."""
