"""Tables as text and Parquet: their rows, their units, and the column names of other programs."""
