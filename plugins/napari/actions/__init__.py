"""What the buttons do, between panels, session and canvas: run, suggest, show, look, take away."""
