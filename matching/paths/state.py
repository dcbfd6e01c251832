"""What `col_of_row` says of a row without a column, in the Hungarian methods and in their kernels."""

FREE, UNASSIGNED = -1, -2
"""Not matched yet; matched with its private column, that is, unassigned at its bound."""
