"""How fast are maximum-cardinality matchings? The two papers' tables and figures, and large graphs."""
