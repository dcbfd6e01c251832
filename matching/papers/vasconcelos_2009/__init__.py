"""Vasconcelos & Rosenhahn 2009: the auction on a GPU, one bidding and one assignment phase at a time."""
