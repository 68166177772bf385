"""Rows of memories as answers show them."""
