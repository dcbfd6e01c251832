"""Points to tracks: candidate links, their price, the matching, the chains."""
