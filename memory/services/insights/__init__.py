"""Insights about people, drawn from what they talked about."""
