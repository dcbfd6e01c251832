"""Benchmarks: the four papers' tables and figures with ours beside them, and the peers on the same inputs.

Every benchmark is a list of experiments; an experiment runs variants on cases, repetition by repetition (`harness`),
and what was measured (`record`) becomes tables and figures (`tables`, `figures`). What the papers print is in `papers`.
"""
