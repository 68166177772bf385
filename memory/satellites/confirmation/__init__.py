"""Memories that a tool or a web page alone says: confirmed or rejected by people."""
