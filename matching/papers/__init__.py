"""The papers' algorithms step by step, their rivals, and what `auto` never takes: for tables, tests, and by name.

They may import all of `matching`; it loads them by name only, when one is asked for (`named`).
"""
