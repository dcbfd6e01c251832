"""How particles move, learned from their movie."""
