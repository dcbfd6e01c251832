"""Files of other programs that are no tables: XML, zips, MATLAB's, zarr, label images."""
