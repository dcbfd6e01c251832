"""What is done to a problem before a method sees it, and undone in its answer: far costs, groups, sorting, shards.

What is handed `solve` here calls it on another problem, or on this one where that would not help, and returns an answer
for the problem as stated, proven for it, its arrays where the problem's are. It raises what `solve` does,
`NotConverged` with an answer for the problem as stated.
"""
