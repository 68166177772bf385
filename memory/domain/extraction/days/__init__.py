"""Dates in a sentence, written out against the time it was said."""
