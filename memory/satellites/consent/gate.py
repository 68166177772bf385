"""The consent gate: changes of guarded memories wait for a yes."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from functools import cached_property
from uuid import UUID

from django.utils import timezone

from memory.domain.audience import TEAM_WIDE, Viewer
from memory.domain.profile_fields import (
    CORE_FIELDS,
    READ_SURELY,
    field_of,
    is_preference,
    matter_of,
)
from memory.domain.text.words import dedupe_key
from memory.models import Memory
from memory.satellites.consent.deciding import close_given, withdraw
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import Proposal, propose, propose_for_team
from memory.satellites.consent.values import is_same_value, sets_alone
from memory.selectors.history.log import LogRange
from memory.selectors.neighbours import locked_memories
from memory.selectors.people import present_values
from memory.writing.conflicts import Ruling
from memory.writing.consent import ConsentPolicy, Gate
from memory.writing.drafts import MemoryDraft, Outcome, PreparedDraft, WriteResult, draft_of_version
from memory.writing.neighbours import Readers
from teams.errors import ConflictError, ForbiddenError
from teams.models import Conversation
from teams.services.team_settings import sensitive_fields_of

_PROFILE_ROOT = "user."
# Each guarded memory that a draft would change, with the profile field that changes, "" for none.
Changed = list[tuple[str, Memory]]


def _guarded_matter(memory: Memory, fields: Collection[str]) -> str | None:
    """The profile field of a guarded memory, "" for a preference of the team, else None."""
    is_of_all = memory.agent_id is None or memory.memory_type in TEAM_WIDE
    is_of_team = memory.end_user_id is None and memory.project_id is None and is_of_all
    if is_of_team and is_preference(category=memory.category, subject=memory.subject):
        return ""
    return _matter(memory.memory_type, memory.subject, fields) or None


def _matter(memory_type: str, subject: str, fields: Collection[str]) -> str:
    if not subject.startswith(_PROFILE_ROOT):
        return ""
    return matter_of(memory_type=memory_type, subject=subject, fields=CORE_FIELDS.union(fields))


class ConsentGate(Gate):
    """Holds back the drafts of one write that change a guarded memory; a first value passes."""

    def __init__(self, *, viewer: Viewer, readers: Readers) -> None:
        self._viewer = viewer
        self._readers = readers

    @cached_property
    def _fields(self) -> frozenset[str]:
        return sensitive_fields_of(team_id=self._viewer.team_id)

    def is_about_profile(self, draft: MemoryDraft) -> bool:
        """Returns whether the draft may state a field of a person's profile."""
        has_owner = draft.end_user_id is not None
        return draft.needs_consent and has_owner and draft.subject.startswith(_PROFILE_ROOT)

    def rule(self, *, item: PreparedDraft, ruling: Ruling) -> tuple[WriteResult | None, Ruling]:
        """Returns the result of a draft that waits for a yes, else None and the ruling to write by.

        The result's memory is what stands now, unchanged. A field of somebody else stands beside
        the draft.
        """
        draft = item.draft
        if not draft.needs_consent:
            return None, ruling
        touched = [each.memory for each in ruling.conflicts if each.changes_memory]
        spared = {
            each.pk
            for each in touched
            if each.end_user_id not in (None, draft.end_user_id)
            and _guarded_matter(each, self._fields)
        }
        ruling = ruling.sparing(spared) if spared else ruling
        changed = self.changed_by(draft, ruling)
        if all(self._is_replaced(draft, *each) for each in changed):
            ids = {each.pk for _, each in changed}
            rows = locked_memories(team_id=draft.team_id, ids=ids) if ids else {}
            return None, ruling.replacing(list(rows.values())) if rows else ruling
        matter, present = changed[0]
        request = propose(
            proposal=Proposal(
                draft=draft,
                key=item.key,
                matter=matter,
                end_user_id=present.end_user_id,
                proposed_by=self._viewer.actor,
                present=present,
            ),
            now=timezone.now(),
        )
        waiting = request.pk if request is not None else None
        return WriteResult(present, Outcome.HELD, consent_request=waiting), ruling

    def changed_by(
        self, draft: MemoryDraft, ruling: Ruling, *, without: UUID | None = None
    ) -> Changed:
        """Returns the guarded memories that a draft of this ruling would change.

        Of a field of the core identity that is not sensitive, a value that a judge finds replaced
        is replaced. `without` is the memory that the draft stands for.
        """
        is_news = ruling.duplicate_of is None and ruling.superseded_by is None
        own = _matter(draft.memory_type.value, draft.subject, self._fields)
        found = self._touched(draft, ruling, own)
        if is_news and own and draft.end_user_id is not None:
            is_sensitive = field_of(own) in self._fields
            gone = set() if is_sensitive else {each.pk for each in ruling.superseded}
            found += [(own, each) for each in self._rivals(draft, own) if each.pk not in gone]
        return [each for each in found if each[1].pk != without]

    def _is_replaced(self, draft: MemoryDraft, matter: str, memory: Memory) -> bool:
        """Returns whether the draft is only a later value that the team asks no yes for."""
        return (
            matter in READ_SURELY.difference(self._fields)
            and memory.end_user_id == draft.end_user_id
            and memory.created_at <= draft.created_at
            and sets_alone(draft.content, field=matter)
            and sets_alone(memory.content, field=matter)
        )

    def _touched(self, draft: MemoryDraft, ruling: Ruling, own: str) -> Changed:
        """The guarded memories that the ruling would retire or dispute."""
        found: Changed = []
        for each in ruling.conflicts:
            memory = each.memory
            matter = _guarded_matter(memory, self._fields)
            if matter is None or not each.changes_memory or _same(draft, memory):
                continue
            if matter and field_of(matter) not in self._fields and each.is_replaced:
                continue
            found.append((own or matter if matter else "", memory))
        return found

    def _rivals(self, draft: MemoryDraft, matter: str) -> list[Memory]:
        """Returns the values of the draft's own field, unless one of them equals the draft."""
        assert draft.end_user_id is not None
        rows = present_values(
            team_id=draft.team_id,
            end_user_id=draft.end_user_id,
            matter=matter,
            fields=CORE_FIELDS.union(self._fields),
            agent_id=draft.owner.agent_id,
        )
        rows = [row for row in rows if self._readers.may_read(row, draft)]
        return [] if any(_same(draft, row) for row in rows) else rows


def _same(draft: MemoryDraft, memory: Memory) -> bool:
    return is_same_value(new=draft.content, known=memory.content, subject=memory.subject)


class Policy(ConsentPolicy):
    """Guards sensitive fields, the core identity of people and the preferences of the team."""

    def gate(self, *, viewer: Viewer, readers: Readers) -> Gate:
        return ConsentGate(viewer=viewer, readers=readers)

    def check_settled(self, *, viewer: Viewer, memory: Memory, is_replaced: bool = True) -> None:
        """Raises ForbiddenError where an agent would change a guarded memory without a yes.

        An agent may take a person's field out, which is how a person is forgotten, and may replace
        a field that the team asks no yes for, as `ConsentGate` lets it. Keys of the team and people
        in the admin are those who consent.
        """
        if viewer.agent_id is None:
            return
        fields = sensitive_fields_of(team_id=memory.team_id)
        matter = _guarded_matter(memory, fields)
        if matter == "" or (matter and is_replaced and field_of(matter) in fields):
            what = f"the {field_of(matter)} of a person" if matter else "a preference of the team"
            raise ForbiddenError(
                f"An agent cannot change {memory.pk} without a yes: it is {what}."
                " Correct it, which asks for one, or use a key of the team."
            )

    def guarded_field(self, memory: Memory) -> str | None:
        return _guarded_matter(memory, sensitive_fields_of(team_id=memory.team_id))

    def release_pins(self, *, memory: Memory) -> None:
        """Unpins the other live memories that state the profile field of a pinned one."""
        is_profile = memory.subject.startswith(_PROFILE_ROOT)
        if not (memory.is_pinned and memory.end_user_id and is_profile):
            return
        fields = sensitive_fields_of(team_id=memory.team_id)
        matter = _matter(memory.memory_type, memory.subject, fields)
        if not matter:
            return
        rows = present_values(
            team_id=memory.team_id,
            end_user_id=memory.end_user_id,
            matter=matter,
            fields=CORE_FIELDS.union(fields),
            agent_id=None if memory.memory_type in TEAM_WIDE else memory.agent_id,
        )
        others = [row.pk for row in rows if row.is_pinned and row.pk != memory.pk]
        Memory.objects.filter(team_id=memory.team_id, pk__in=others).update(is_pinned=False)

    def close_given(
        self, *, memory: Memory, actor: str, now: datetime, written: LogRange | None
    ) -> None:
        close_given(memory=memory, actor=actor, now=now, written=written)

    def withdraw(
        self,
        *,
        conversation: Conversation,
        message_ids: Collection[UUID],
        actor: str,
        now: datetime,
    ) -> Collection[UUID]:
        return withdraw(conversation=conversation, message_ids=message_ids, actor=actor, now=now)

    def hold_promotion(self, *, viewer: Viewer, memory: Memory, now: datetime) -> UUID | None:
        """Returns the request to give a preference to the team; ConflictError after a decision."""
        if not is_preference(category=memory.category, subject=memory.subject):
            return None
        known = ConsentRequest.objects.filter(
            team_id=memory.team_id, kind=ConsentRequest.Kind.TEAM_PREFERENCE, memory=memory
        )
        request = known.order_by("-id").first()
        if request is not None and not request.is_waiting:
            raise ConflictError(
                f"That it becomes the whole team's was asked before: {request.state}."
            )
        if request is None:
            draft = draft_of_version(
                memory=memory, content=memory.content, extractor=memory.extractor, now=now
            )
            request = propose_for_team(
                memory=memory,
                key=dedupe_key(memory.content, draft.owner),
                heard_by=viewer.agent_id,
                proposed_by=viewer.actor,
                now=now,
            )
        assert request is not None
        return request.pk
