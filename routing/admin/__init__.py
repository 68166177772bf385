"""The web admin's pages of providers, models, what was decided and what was spent."""

from . import chat_models, decisions, providers, spend

__all__ = ["chat_models", "decisions", "providers", "spend"]
