"""Workflows: recorded while they are carried out, and proposed where they recur in talk."""
