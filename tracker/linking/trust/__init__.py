"""How sure links are."""
