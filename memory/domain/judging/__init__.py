"""The rules-based judge: how a new statement stands to an existing one, without a language model."""

from .rules import RulesJudge

__all__ = ["RulesJudge"]
