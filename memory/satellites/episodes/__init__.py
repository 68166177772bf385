"""Episodes: sittings of talk that are over, each told as one memory."""
