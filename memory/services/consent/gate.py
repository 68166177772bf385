"""The consent gate of the write path: what would change a sensitive field waits for a yes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from django.utils import timezone

from memory.domain.consent import matter_of
from memory.domain.viewer import Viewer
from memory.models import Memory
from memory.selectors.profiles import present_values
from memory.services.consent.proposals import Proposal, propose
from memory.services.consent.values import is_same_value
from memory.services.write.audiences import Readers
from memory.services.write.conflicts import Ruling
from memory.services.write.drafts import MemoryDraft, Outcome, WriteResult
from memory.services.write.inserting import PreparedDraft
from teams.services.profile_fields import sensitive_fields_of

_PROFILE_ROOT = "user."


class ConsentGate:
    """Holds back the drafts of one write that change a sensitive field of a person.

    Use it in the write's transaction and scope. A first value passes: nothing is changed by it.
    """

    def __init__(self, *, viewer: Viewer, readers: Readers) -> None:
        self._viewer = viewer
        self._readers = readers

    @cached_property
    def _fields(self) -> frozenset[str]:
        return sensitive_fields_of(team_id=self._viewer.team_id)

    def is_about_profile(self, draft: MemoryDraft) -> bool:
        """Whether the draft may tell a field of a person's profile."""
        has_owner = draft.end_user_id is not None
        return draft.needs_consent and has_owner and draft.subject.startswith(_PROFILE_ROOT)

    def rule(self, *, item: PreparedDraft, ruling: Ruling) -> tuple[WriteResult | None, Ruling]:
        """The result of a draft that waits for a yes, else None and the ruling by which to write.

        The result's memory is what the field says now, unchanged. What tells a field of somebody
        else stands beside the draft.
        """
        draft = item.draft
        if not draft.needs_consent:
            return None, ruling
        touched = [*ruling.superseded, *(each.memory for each in ruling.disputed)]
        touched = [each for each in touched if each.subject.startswith(_PROFILE_ROOT)]
        is_news = ruling.duplicate_of is None and ruling.superseded_by is None
        if not touched and not (is_news and self.is_about_profile(draft)):
            return None, ruling
        own = self._matter(draft.memory_type.value, draft.subject)
        changed = self._changed(draft, touched)
        spared = {memory.pk for _, memory in changed if memory.end_user_id != draft.end_user_id}
        changed = [each for each in changed if each[1].pk not in spared]
        if is_news:
            changed += self._rivals(draft, own)
        if not changed:
            return None, ruling.sparing(spared) if spared else ruling
        matter, present = changed[0]
        assert present.end_user_id is not None
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

    def _changed(self, draft: MemoryDraft, touched: Iterable[Memory]) -> list[tuple[str, Memory]]:
        """The fields that the ruling would retire or dispute, each with what it says now."""
        found = []
        for memory in touched:
            matter = self._matter(memory.memory_type, memory.subject)
            if matter and memory.end_user_id and not _same(draft, memory):
                found.append((matter, memory))
        return found

    def _rivals(self, draft: MemoryDraft, matter: str) -> list[tuple[str, Memory]]:
        """What the draft's own field says now, unless that is what the draft says."""
        if not matter or draft.end_user_id is None:
            return []
        rows = present_values(
            team_id=draft.team_id,
            end_user_id=draft.end_user_id,
            matter=matter,
            fields=self._fields,
            agent_id=draft.audience.agent_id,
        )
        rows = [row for row in rows if self._readers.may_read(row, draft)]
        if any(_same(draft, row) for row in rows):
            return []
        return [(matter, row) for row in rows]

    def _matter(self, memory_type: str, subject: str) -> str:
        return matter_of(memory_type=memory_type, subject=subject, fields=self._fields)


def _same(draft: MemoryDraft, memory: Memory) -> bool:
    return is_same_value(new=draft.content, known=memory.content, subject=memory.subject)
