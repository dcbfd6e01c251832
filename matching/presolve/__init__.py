"""What is done to a problem before a method sees it, and undone in its answer: far costs, groups, sorting, shards."""
