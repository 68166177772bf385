"""The consent policy that the kernel's write path asks."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.profile_fields import is_preference
from memory.domain.text.words import dedupe_key
from memory.models import Memory
from memory.satellites.consent.gate import (
    ConsentGate,
    check_settled_by_agent,
    guarded_matter,
    release_pins,
)
from memory.satellites.consent.marking import close_given
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import propose_for_team
from memory.selectors.history.log import LogRange
from memory.services.decisions.disputes import draft_of_version
from memory.services.write.audiences import Readers
from memory.services.write.consent import Gate
from teams.errors import ConflictError
from teams.services.profile_fields import sensitive_fields_of


class Policy:
    """Guards sensitive fields, the core identity of people and the preferences of the team."""

    def gate(self, *, viewer: Viewer, readers: Readers) -> Gate:
        return ConsentGate(viewer=viewer, readers=readers)

    def check_settled(self, *, viewer: Viewer, memory: Memory, is_replaced: bool = True) -> None:
        check_settled_by_agent(viewer=viewer, memory=memory, is_replaced=is_replaced)

    def guarded_field(self, memory: Memory) -> str | None:
        return guarded_matter(memory, fields=sensitive_fields_of(team_id=memory.team_id))

    def release_pins(self, *, memory: Memory) -> None:
        release_pins(memory=memory)

    def close_given(
        self, *, memory: Memory, actor: str, now: datetime, written: LogRange | None
    ) -> None:
        close_given(memory=memory, actor=actor, now=now, written=written)

    def hold_promotion(self, *, viewer: Viewer, memory: Memory, now: datetime) -> UUID | None:
        if not is_preference(category=memory.category, subject=memory.subject):
            return None
        known = ConsentRequest.objects.filter(
            team_id=memory.team_id, kind=ConsentRequest.Kind.TEAM_PREFERENCE, memory=memory
        )
        before = known.order_by("-id").first()
        if before is not None and not before.is_waiting:
            raise ConflictError(
                f"That it becomes the whole team's was asked before: {before.state}."
            )
        if before is None:
            draft = draft_of_version(
                memory=memory, content=memory.content, extractor=memory.extractor, now=now
            )
            before = propose_for_team(
                memory=memory,
                key=dedupe_key(memory.content, draft.owner),
                heard_by=viewer.agent_id,
                proposed_by=viewer.actor,
                now=now,
            )
        assert before is not None
        return before.pk
