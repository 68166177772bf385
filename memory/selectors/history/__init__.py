"""The log, and memories as they stood."""
