"""What one step of the table or voxel of the movie is in the world: units, what files and callers state, lengths."""
