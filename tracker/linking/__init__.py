"""Points to tracks: candidate links, unmatched costs, the matching, tracks."""
