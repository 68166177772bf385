"""Maintains the indexes that searches rely on, behind the writes."""
