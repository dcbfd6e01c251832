"""Movies: TIFF files, folders of them, and arrays, read frame by frame with what they say of themselves."""
