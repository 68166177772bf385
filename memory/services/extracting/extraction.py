"""From a range of messages to written memories: two passes, merged, through the write path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from django.conf import settings

from memory.clients.tools import Tools
from memory.domain.secrets import mask_secrets
from memory.domain.text import normalise_text, tell_apart
from memory.domain.types import Candidate, MemoryType, Participants, Role, SourceMessage
from memory.services.writing.drafts import MemoryDraft, Outcome, WriteResult
from teams.models import Conversation, Message

CONTEXT_MESSAGES = 12
# What only one agent learned stays with it; facts about the person are for every agent.
_OF_NO_AGENT = (MemoryType.USER_PROFILE, MemoryType.SHARED)


@dataclass(frozen=True, slots=True)
class ExtractionCounts:
    """What an extraction did; the names are those of the API's answer."""

    created: int = 0
    versioned: int = 0
    duplicates_skipped: int = 0
    contradictions_found: int = 0
    pass1_count: int = 0
    pass2_additions: int = 0
    extractor: str = ""
    memories: tuple[str, ...] = ()
    secrets_masked: int = 0

    def as_json(self) -> dict[str, object]:
        """As it is kept in a job's result."""
        return {**asdict(self), "memories": list(self.memories)}


@dataclass(frozen=True, slots=True)
class MessageRange:
    """Messages to extract and the earlier ones that give them context."""

    conversation: Conversation
    messages: tuple[Message, ...]
    context: tuple[Message, ...]


def load_range(*, conversation: Conversation, first: int, last: int) -> MessageRange:
    """The messages numbered `first` to `last` and up to 12 before them; call it in scope."""
    rows = list(
        Message.objects.filter(
            team_id=conversation.team_id,
            conversation=conversation,
            position__gte=first - CONTEXT_MESSAGES,
            position__lte=last,
        ).order_by("position")
    )
    return MessageRange(
        conversation=conversation,
        messages=tuple(row for row in rows if row.position >= first),
        context=tuple(row for row in rows if row.position < first),
    )


def find_candidates(*, source: MessageRange, tools: Tools) -> list[Candidate]:
    """Both passes over the range, without what the second only says again; no transaction."""
    messages = [as_source(row) for row in source.messages]
    if not messages:
        return []
    context = [as_source(row) for row in source.context]
    conversation = source.conversation
    participants = Participants(
        user=conversation.end_user.display_name, agent=conversation.agent.slug
    )
    first = tools.extractor.extract(messages=messages, context=context, participants=participants)
    second = tools.extractor.review(
        messages=messages, context=context, participants=participants, first_pass=first
    )
    return _merge(first, second, tools)


def drafts_of(
    *, source: MessageRange, candidates: Sequence[Candidate], extractor: str
) -> list[MemoryDraft]:
    """The candidates as drafts of the conversation's owner, with their exact provenance."""
    conversation = source.conversation
    by_id = {row.id: row for row in (*source.context, *source.messages)}
    drafts = []
    for candidate in candidates:
        sources = [by_id[item] for item in candidate.message_ids if item in by_id]
        said_at = max((row.created_at for row in sources), default=source.messages[-1].created_at)
        drafts.append(
            MemoryDraft(
                team_id=conversation.team_id,
                content=candidate.content,
                memory_type=candidate.memory_type,
                importance=candidate.importance,
                confidence=candidate.confidence,
                is_pinned=candidate.is_pinned,
                subject=candidate.subject,
                category=candidate.category,
                tags=candidate.tags,
                agent_id=None if candidate.memory_type in _OF_NO_AGENT else conversation.agent_id,
                author_id=conversation.agent_id,
                people=tuple(
                    dict.fromkeys(
                        name
                        for name in (
                            conversation.end_user.display_name,
                            *(row.name for row in sources),
                        )
                        if name
                    )
                ),
                end_user_id=conversation.end_user_id,
                # Who a person is holds in every project.
                project_id=None
                if candidate.memory_type == MemoryType.USER_PROFILE
                else conversation.project_id,
                conversation_id=conversation.id,
                message_ids=tuple(row.id for row in sources),
                message_external_ids=tuple(row.external_id for row in sources if row.external_id),
                extractor=candidate.extractor or extractor,
                extraction_pass=candidate.extraction_pass,
                created_at=said_at,
                valid_from=candidate.valid_from,
                valid_to=candidate.valid_to,
                told=_as_told(candidate),
            )
        )
    return drafts


def _as_told(candidate: Candidate) -> str:
    """A correction as it was said, for the judge: a memory's own text denies nothing else."""
    if candidate.corrects is None:
        return ""
    denied = f", {mask_secrets(text=candidate.corrects)}" if candidate.corrects else ""
    return f"Correction: {candidate.content.rstrip('.')}{denied}."


def count_results(
    *,
    candidates: Sequence[Candidate],
    results: Sequence[WriteResult],
    extractor: str,
    secrets_masked: int = 0,
) -> ExtractionCounts:
    """The figures of one extraction; `extractor` names all that spoke ("openai:x+rules").

    `secrets_masked` counts the candidates in which a secret was masked.
    """
    spoke = sorted({candidate.extractor or extractor for candidate in candidates})
    made = (Outcome.CREATED, Outcome.DISPUTED)
    replaced = (Outcome.VERSIONED, Outcome.SUPERSEDED_EXISTING)
    return ExtractionCounts(
        created=sum(result.outcome in made for result in results),
        versioned=sum(result.outcome in replaced for result in results),
        duplicates_skipped=sum(result.outcome == Outcome.DUPLICATE for result in results),
        contradictions_found=sum(result.conflicts for result in results),
        pass1_count=sum(candidate.extraction_pass == 1 for candidate in candidates),
        pass2_additions=sum(candidate.extraction_pass == 2 for candidate in candidates),
        extractor="+".join(spoke) or extractor,
        memories=tuple(dict.fromkeys(str(result.memory.pk) for result in results)),
        secrets_masked=secrets_masked,
    )


def add_counts(one: ExtractionCounts, other: ExtractionCounts) -> ExtractionCounts:
    """Two extractions reported as one."""
    return replace(
        one,
        created=one.created + other.created,
        versioned=one.versioned + other.versioned,
        duplicates_skipped=one.duplicates_skipped + other.duplicates_skipped,
        contradictions_found=one.contradictions_found + other.contradictions_found,
        pass1_count=one.pass1_count + other.pass1_count,
        pass2_additions=one.pass2_additions + other.pass2_additions,
        extractor="+".join(sorted({*_names(one), *_names(other)})),
        memories=tuple(dict.fromkeys((*one.memories, *other.memories))),
        secrets_masked=one.secrets_masked + other.secrets_masked,
    )


def _names(counts: ExtractionCounts) -> list[str]:
    return [name for name in counts.extractor.split("+") if name]


def _merge(
    first: Sequence[Candidate], second: Sequence[Candidate], tools: Tools
) -> list[Candidate]:
    """The union of both passes; near-equal wordings of one fact (cosine > 0.95) stand once.

    A wording with another number, name or negation, or with the same words in another order
    ("tea over coffee"), is left to the judge, however near its vector.
    """
    candidates = [*first, *second]
    vectors = tools.embedder.embed([candidate.content for candidate in candidates])
    marks = [tell_apart(candidate.content) for candidate in candidates]
    words = [normalise_text(candidate.content).split() for candidate in candidates]
    kept: list[int] = []
    for index in range(len(candidates)):
        nearness = vectors[kept] @ vectors[index] if kept else ()
        if not any(
            near > settings.DUPLICATE_SIMILARITY
            and marks[other] == marks[index]
            and _in_one_order(words[other], words[index])
            for near, other in zip(nearness, kept, strict=True)
        ):
            kept.append(index)
    return [candidates[index] for index in kept]


def _in_one_order(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the words that both have stand in the same order."""
    common = set(one) & set(other)
    return [word for word in one if word in common] == [word for word in other if word in common]


def as_source(row: Message) -> SourceMessage:
    """The row as the domain reads it."""
    return SourceMessage(
        id=row.id,
        position=row.position,
        role=Role(row.role),
        content=row.content,
        created_at=row.created_at,
        name=row.name,
    )


def counts_from_json(result: dict[str, object]) -> ExtractionCounts:
    """The figures as a job kept them."""
    values = dict(result)
    memories = values.pop("memories", [])
    assert isinstance(memories, list)
    return ExtractionCounts(**values, memories=tuple(memories))  # type: ignore[arg-type]
