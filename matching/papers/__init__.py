"""The papers' algorithms step by step, and their rivals: for their tables, and to measure our own against.

They may import all of `matching`; it loads them by name only, when one is asked for (`named`).
"""
