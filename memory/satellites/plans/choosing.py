"""Candidates of a question as the facts that seed 001's rules choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from memory.domain.audience import OF_AN_AGENT, Viewer
from memory.domain.clashes import PREFERENCES, Fact, Rules, category_of, is_relevant
from memory.domain.differences import saying
from memory.domain.types import MemoryType, Scope, Status
from memory.reading.conflicts import Clash
from memory.reading.packing import Chosen, line_of
from memory.reading.ranking import Ranked
from memory.satellites.plans.selection.choosing import Selection, select_facts
from memory.selectors.person_names import PersonNames
from memory.selectors.search.signal_rows import SignalRow


@dataclass(slots=True)
class FactChooser:
    """Chooses among the candidates of a request for `viewer`, in that conversation, by `rules`."""

    viewer: Viewer
    conversation_id: UUID | None
    rules: Rules
    now: datetime
    selection: Selection = field(default_factory=Selection)

    def keeps(self, row: SignalRow) -> bool:
        """Whether it is a rule for how to answer, which holds whatever words the request has."""
        named = [each for each in self.rules.categories if is_relevant(PREFERENCES, among=[each])]
        return bool(named) and is_relevant(_category(row), among=named)

    def choose(
        self, ranked: Sequence[Ranked], clashes: Sequence[Clash], names: PersonNames
    ) -> Chosen:
        """Those that are told, with what of the rest was left out and why."""
        rows = {each.row.memory_id: each.row for each in ranked}
        facts = [self._fact(each, names) for each in ranked]
        pairs = {
            frozenset((row.memory_id, other))
            for row in rows.values()
            for other in row.contradicts or ()
            if other in rows
        }
        pairs |= {frozenset((each.earlier.memory_id, each.later.memory_id)) for each in clashes}
        selection = select_facts(facts, rules=self.rules, conflicting=pairs)
        told = {each.fact.key: each for each in selection.kept}
        kept = [
            each._replace(row=self._as_told(each.row, told[each.row.memory_id].rivals))
            for each in ranked
            if each.row.memory_id in told
        ]
        self.selection = selection
        return Chosen(kept, _rings(selection))

    def _fact(self, each: Ranked, names: PersonNames) -> Fact:
        row = each.row
        quote = names.quotes.get(row.memory_id)
        line = line_of(row, names.told(row.memory_id, row.content), quote=quote)
        return Fact(
            key=row.memory_id,
            scope=scope_of(row, viewer=self.viewer, conversation_id=self.conversation_id),
            category=_category(row),
            confidence=row.confidence,
            at=row.created_at,
            score=each.rank,
            is_stale=not row.is_live
            or (row.held_until is not None and row.held_until < self.now.timestamp()),
            needs_naming=row.memory_type == MemoryType.PROCEDURAL and not row.is_pinned,
            # Whether somebody disputes it makes no other statement of it.
            says=saying(replace(line, status=Status.ACTIVE.value)),
            chars=len(line.render()) + 1,
        )

    def _as_told(self, row: SignalRow, rivals: Sequence[UUID]) -> SignalRow:
        """The row in its scope; only what the rules could not settle stands there as disputed."""
        scope = scope_of(row, viewer=self.viewer, conversation_id=self.conversation_id)
        row = row._replace(scope=str(scope))
        if not self.rules.resolves_conflicts:
            return row
        status = Status.DISPUTED if rivals else Status.ACTIVE
        return row._replace(status=status.value, contradicts=list(rivals))


def scope_of(row: SignalRow, *, viewer: Viewer, conversation_id: UUID | None) -> Scope | None:
    """Where a memory counts for this request, None where it is of somebody or something else.

    What was learned in the conversation of the request, or holds for it alone, counts for the
    session; what is of a person, a project or an agent's own only where the request names them.
    """
    for owner, named in (
        (row.end_user_id, viewer.end_user_id),
        (row.project_id, viewer.project_id),
    ):
        if owner is not None and owner != named:
            return None
    if row.memory_type in OF_AN_AGENT and row.agent_id != viewer.agent_id:
        return None
    if conversation_id is not None and row.conversation_id == conversation_id:
        return Scope.SESSION
    scope = Scope(row.scope)
    if scope in (Scope.TASK, Scope.SESSION):
        return None
    if scope is Scope.PROJECT and row.project_id is None:
        return None
    if scope is Scope.USER and row.end_user_id is None:
        return None
    return scope


def _category(row: SignalRow) -> str:
    return category_of(
        category=row.category, memory_type=MemoryType(row.memory_type), subject=row.subject
    )


def _rings(selection: Selection) -> Mapping[UUID, UUID]:
    """Of each flagged fact another one of its conflict, in circles: all are told, or none."""
    rivals = {each.fact.key: each.rivals for each in selection.kept if each.rivals}
    rings: dict[UUID, UUID] = {}
    for key in rivals:
        if key in rings:
            continue
        circle: list[UUID] = []
        reached = [key]
        while reached:
            each = reached.pop()
            if each not in circle:
                circle.append(each)
                reached += rivals[each]
        rings |= dict(zip(circle, [*circle[1:], circle[0]], strict=True))
    return rings
