"""What the widget has in hand and the steps of tracking, without Qt: input, settings, results, filters."""
