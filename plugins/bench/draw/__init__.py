"""Tables and figures of what was measured."""
