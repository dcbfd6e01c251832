"""The numbers that the papers print, as they print them, with the hardware they came from."""
