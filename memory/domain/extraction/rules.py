"""The extractor that needs no language model: rules behind the same port as the model.

The rules read English and nothing else. What is said in another language stays in the messages,
where it can be searched, but becomes no memory; a team that speaks one sets a language model.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID

from ..secrets import MASK, mask_secrets, secrets_in
from ..types import Candidate, Participants, SourceMessage
from .admitting.admission import Admission
from .compose import Walk
from .drafts import Draft, to_candidate
from .language.words import display_name
from .review import uncovered_drafts
from .threads.corrections import apply_corrections
from .threads.dialogue import read_units

# What of a secret a subject could hold, which is made of lower-case words.
_PIECE = re.compile(r"[a-z0-9]{4,}")


class RulesExtractor:
    """Turns messages into candidate memories by grammar-like rules; holds no state."""

    name = "rules"

    def __init__(self, *, admission: Admission | None = None) -> None:
        self._admission = admission or Admission()

    def extract(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
    ) -> list[Candidate]:
        """Pass 1: what typed patterns find in `messages`; `context` lends topics and names."""
        units = read_units(messages=messages, context=context, participants=participants)
        agent = display_name(participants.agent)
        units = apply_corrections(units=units, agent=agent)
        drafts = Walk(units=units, agent=agent, admission=self._admission).drafts()
        return _candidates(drafts, [*context, *messages], len(context), 1)

    def review(
        self,
        *,
        messages: Sequence[SourceMessage],
        context: Sequence[SourceMessage],
        participants: Participants,
        first_pass: Sequence[Candidate],
    ) -> list[Candidate]:
        """Pass 2: sentences that carry information and that no candidate of pass 1 covers."""
        agent = display_name(participants.agent)
        units = apply_corrections(
            units=read_units(messages=messages, context=context, participants=participants),
            agent=agent,
        )
        drafts = uncovered_drafts(
            units=units, first_pass=first_pass, admission=self._admission, agent=agent
        )
        known = {candidate.content.lower() for candidate in first_pass}
        found = _candidates(drafts, [*context, *messages], len(context), 2)
        return [candidate for candidate in found if candidate.content.lower() not in known]


def _candidates(
    drafts: list[Draft], read: Sequence[SourceMessage], skipped: int, extraction_pass: int
) -> list[Candidate]:
    """The drafts as candidates; the first `skipped` of the messages read are mere context."""
    allowed: frozenset[UUID] = frozenset(message.id for message in read[skipped:])
    secrets = {secret for message in read for secret in secrets_in(text=message.content)}
    pieces = {piece for secret in secrets for piece in _PIECE.findall(secret.lower())}
    found: dict[str, Candidate] = {}
    for draft in drafts:
        candidate = to_candidate(draft=draft, extraction_pass=extraction_pass, allowed=allowed)
        if candidate is not None:
            candidate = _recognisable(_without(candidate, pieces), secrets)
            found.setdefault(candidate.content.lower(), candidate)
    return list(found.values())


def _without(candidate: Candidate, pieces: Collection[str]) -> Candidate:
    """The candidate with no piece of a secret left in its subject."""
    if not pieces:
        return candidate
    subject = _PIECE.sub(
        lambda found: "masked" if found.group() in pieces else found.group(), candidate.subject
    )
    return replace(candidate, subject=subject)


def _recognisable(candidate: Candidate, secrets: Collection[str]) -> Candidate:
    """Mask the secrets that the writing constraints would no longer know for what they are.

    "The door code is 4711" is left as it is, so that its masking is noticed and recorded there;
    the code alone, cut from the words that say what it is, would pass.
    """
    left = mask_secrets(text=candidate.content).lower() if secrets else ""
    bare = [secret for secret in secrets if secret.lower() in left]
    for secret in sorted(bare, key=len, reverse=True):
        content = re.sub(re.escape(secret), MASK, candidate.content, flags=re.IGNORECASE)
        candidate = replace(candidate, content=content)
    return candidate
