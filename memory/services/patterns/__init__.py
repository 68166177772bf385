"""Patterns that are learned from code."""
