"""Numbers that others print, as they print them, with the hardware they came from."""
