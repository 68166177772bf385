"""Two statements beside each other: what they share and where they part."""
