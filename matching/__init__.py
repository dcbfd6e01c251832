"""Floor 1: bipartite matching. Knows nothing of particles."""
