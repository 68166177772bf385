"""Telling a team's programs of changes: endpoints, what they are sent, and sending it."""
