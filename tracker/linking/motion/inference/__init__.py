"""How probable each candidate link is under the models: sweeps over the movie, and belief propagation."""
