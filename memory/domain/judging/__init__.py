"""The rules-based judge: how a new statement stands to an existing one, by word and figure."""

from .rules import RulesJudge

__all__ = ["RulesJudge"]
