"""How fast are assignment solvers? Ours, the papers' and others', on their instances and on hostile ones."""
