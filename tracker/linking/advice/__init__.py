"""What other settings would bring: ranges, prices, frame rates."""
