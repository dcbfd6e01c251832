"""What is learned of a movie: how likely a displacement is, an end of a track, a change of features."""
