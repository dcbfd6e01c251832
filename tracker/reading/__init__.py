"""Movies: TIFF files, folders of them, OME-Zarr, and arrays, read frame by frame with what they say of themselves."""
