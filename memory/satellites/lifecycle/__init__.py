"""Consolidation of a team's store: runs that are planned, carried out, and can be taken back."""
