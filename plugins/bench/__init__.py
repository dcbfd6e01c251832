"""Benchmarks: the four papers' tables and figures with ours beside them, and the peers on the same inputs.

Every benchmark (`benchmark`) is a list of experiments; an experiment runs variants on cases, repetition by repetition
(`measure.harness`), and what was measured (`measure.record`) becomes tables and figures (`draw`). A room a question:
`assignment`, `graphs` (of maximum matchings), `tracking`; `peers` puts others beside us in each. What only reproduces
the papers' tables is in `reproduced`.
"""
