"""What other settings would bring: ranges, unmatched costs, frame rates."""
