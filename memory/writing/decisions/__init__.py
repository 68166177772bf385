"""Decisions of people and agents about stored memories."""
