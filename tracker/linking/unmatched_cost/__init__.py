"""What leaving a particle unlinked costs, measured from its movie."""
