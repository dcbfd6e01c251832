"""Run variants on cases, repetition by repetition, and keep what was measured."""
