"""A context that is trimmed, after all in it was extracted."""
