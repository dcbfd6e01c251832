"""Movies to points: blobs by LoG or DoG, their threshold and diameter, and label images."""
