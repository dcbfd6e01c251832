"""Tables that are not of pandas: what they are, and which of their own methods makes one that is."""

from __future__ import annotations

_TO_PANDAS = {"to_pandas": ".to_pandas()", "compute": ".compute()", "collect": ".collect().to_pandas()"}
"""By the method that a table has: Polars, Arrow and xarray, Dask, Polars' lazy ones."""


def what_came(given: object) -> str:
    """Return what was given in place of a DataFrame of pandas, with its library, and what to give of it.

    Examples
    --------
    >>> what_came([0, 1])
    'got list.'
    """
    kind = type(given)
    library = kind.__module__.partition(".")[0]
    named = kind.__name__ if library == "builtins" else f"{kind.__name__} of {library}"
    made = next((call for method, call in _TO_PANDAS.items() if hasattr(given, method)), "")
    return f"got {named}. Give its {made}." if made else f"got {named}."
