"""What is to happen with a draft: the conflicts it has, or the memory it repeats."""

from __future__ import annotations

from dataclasses import dataclass

from memory.domain.audience import Reach
from memory.domain.types import Judgement, Strategy, Verdict
from memory.models import Memory
from memory.services.writing.drafts import Outcome


@dataclass(frozen=True, slots=True)
class Conflict:
    """One memory that the new one conflicts with, and what the judge said.

    `is_stated` marks one that the draft itself says it replaces: no judge was asked. `reach` says
    whether others see the met memory than will see the new one.
    """

    memory: Memory
    strategy: Strategy
    judgement: Judgement
    new_is_older: bool = False
    is_stated: bool = False
    reach: Reach = Reach.SAME


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is to happen with a draft; with an `objection` people said before that it is wrong."""

    conflicts: tuple[Conflict, ...] = ()
    duplicate_of: Memory | None = None
    objection: Judgement | None = None

    @property
    def is_clear(self) -> bool:
        """Whether nothing speaks against a new memory beside all others."""
        return not self.met and self.objection is None

    @property
    def met(self) -> list[Memory]:
        """All memories that it is about."""
        rows = [each.memory for each in self.conflicts]
        return rows if self.duplicate_of is None else [*rows, self.duplicate_of]

    @property
    def superseded(self) -> list[Memory]:
        """The memories that the new one replaces, nearest first."""
        return [
            each.memory
            for each in self.conflicts
            if each.judgement.verdict == Verdict.SUPERSEDE and not each.new_is_older
        ]

    @property
    def continued(self) -> list[Memory]:
        """Those of them whose chain of versions the new one goes on with.

        One that only an agent sees is not named by what all see.
        """
        narrower = {each.memory.pk for each in self.conflicts if each.reach == Reach.NARROWER}
        return [memory for memory in self.superseded if memory.pk not in narrower]

    @property
    def superseded_by(self) -> Memory | None:
        """The newer memory that already replaces the arriving older one."""
        for each in self.conflicts:
            if each.judgement.verdict == Verdict.SUPERSEDE and each.new_is_older:
                return each.memory
        return None

    @property
    def disputed(self) -> list[Memory]:
        """The memories that the new one is in dispute with."""
        if self.superseded_by is not None:
            return []
        return [each.memory for each in self.conflicts if each.judgement.verdict == Verdict.DISPUTE]

    @property
    def is_objected(self) -> bool:
        """Whether the new memory is to stand as one that is said to be wrong."""
        is_new = self.duplicate_of is None and self.superseded_by is None
        return is_new and self.objection is not None

    @property
    def recorded(self) -> list[Conflict]:
        """The conflicts that are kept as contradictions."""
        disputed = {memory.pk for memory in self.disputed}
        return [
            each
            for each in self.conflicts
            if not each.is_stated
            and (each.judgement.verdict == Verdict.SUPERSEDE or each.memory.pk in disputed)
        ]

    @property
    def outcome(self) -> Outcome:
        """What the caller is told."""
        if self.duplicate_of is not None:
            return Outcome.DUPLICATE
        if self.disputed or self.is_objected:
            return Outcome.DISPUTED
        replaced = [
            each
            for each in self.conflicts
            if each.judgement.verdict == Verdict.SUPERSEDE and not each.new_is_older
        ]
        if any(each.strategy == Strategy.SAME_SUBJECT for each in replaced):
            return Outcome.VERSIONED
        if self.superseded_by is not None:
            return Outcome.SUPERSEDED
        return Outcome.SUPERSEDED_EXISTING if replaced else Outcome.CREATED
