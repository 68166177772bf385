"""Candidates of a question, with all their signals."""
