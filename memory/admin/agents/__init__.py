"""The web admin's pages of agents: a form of their document, and a preview of their prompt."""

from . import pages

__all__ = ["pages"]
