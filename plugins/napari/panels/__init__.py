"""The panels of the widget: forms, charts, the table of tracks, the run bar."""
