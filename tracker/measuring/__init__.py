"""What tracks say: speeds, displacements, mean squared displacement."""
