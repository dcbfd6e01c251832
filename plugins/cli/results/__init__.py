"""What commands make of tracks: pictures, scores, intervals of measures."""
