"""The four tiers of the context of work in progress: what stands in each, and why (seed 002)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import partial
from typing import NamedTuple
from uuid import UUID

from memory.domain.forms import Form
from memory.domain.judgements import shared_words
from memory.domain.packing import Room
from memory.domain.plans.assembly import assemble
from memory.domain.plans.plan import (
    MARKER,
    NOTICE,
    RULE,
    Block,
    Plan,
    Section,
    Text,
    Written,
    always,
    is_identity,
    is_pinned,
    never,
    without_heading,
)
from memory.domain.rendering import Line, TokenCounter, beginning, escaped_line
from memory.domain.types import MemoryType, Signals

DEFAULT_BUDGET = 8_000
TITLE = "WORKING CONTEXT"
FRAME = f"{TITLE}{MARKER}\n{RULE}\n{NOTICE}"
TOPIC_TITLE = "TOPIC"
Shares = tuple[float, float, float, float]
DEFAULT_SHARES: Shares = (0.25, 0.375, 0.25, 0.125)
HEADING = "## Index"
OPENING = (
    f"{HEADING}\nMore is known of these topics. Open one with the tool `expand`, or"
    " GET /v1/context/expand?topic=NAME:"
)
_MOST_TOPIC_CHARS = 100
# Words of paths, branches and topics: camelCase and snake_case are taken apart.
_WORD = re.compile(r"[^\W\d_a-z]+(?![^\W\d_A-Z])|[^\W\d_]?[^\W\d_A-Z]+|\d+")
_SHORTEST_WORD = 3
# So much of the shorter one, of an error and of a memory, is in the other one.
SAME_ERROR = 0.3
_ACTIVE = frozenset({Form.DECISION.value, Form.FAILURE.value})
_OF_ERRORS = frozenset({Form.FAILURE.value, Form.EPISODE.value})
_BACKGROUND: Mapping[str, str] = {
    Form.CONVENTION.value: "a convention",
    Form.WORKFLOW.value: "a workflow",
}
# Of patterns that stand so often in an open file most are told that are written there, and few
# others (docs/decisions/0045-patterns-from-syntax-trees.md).
_LEAST_REPEATS = 3
# Chance below which a prediction alone does not place a memory. On two histories 4 of the 244 below
# were needed.
_LEAST_CHANCE = 0.02
_DISPUTE_RANK = 0.7
WORDS_ALONE = "it says something about the work"
WORDS_ELSEWHERE = "it says something about the work, of other files"
# Of an error so much is asked for.
_ERROR_CHARS = 300
# What a session that tells nothing begins with.
_NOTHING_KNOWN = "decisions and conventions of the project"


class ContextTier(StrEnum):
    """The tiers, the most important first."""

    CRITICAL = "tier1"
    RELEVANT = "tier2"
    BACKGROUND = "tier3"
    INDEX = "tier4"


class Activity(StrEnum):
    """The activity of the agent."""

    DEBUGGING = "debugging"
    FEATURE = "feature"
    REVIEW = "review"
    DEPLOY = "deploy"
    PLANNING = "planning"


# Of debugging by seed 002, "Token Budget Examples", scenario 2; of deployments as measured. The
# others have the default: of no other shares two histories agree that they tell more of what is
# needed (docs/decisions/0044-context-of-work-in-progress.md).
SHARES: Mapping[Activity, Shares] = {
    Activity.DEBUGGING: (0.375, 0.3125, 0.1875, 0.125),
    Activity.DEPLOY: (0.15, 0.6, 0.125, 0.125),
}
HEADINGS: Mapping[ContextTier, str] = {
    ContextTier.CRITICAL: "## Critical",
    ContextTier.RELEVANT: "## Relevant",
    ContextTier.BACKGROUND: "## Background",
}


def shares_of(activity: Activity | None) -> Shares:
    """The shares of the budget for each tier; they add up to 1."""
    return DEFAULT_SHARES if activity is None else SHARES.get(activity, DEFAULT_SHARES)


def working_plan(*, shares: Shares, token_budget: int) -> Plan:
    """Returns the plan of the first three tiers; each may fill what those before it leave free.

    `token_budget` is that of all four. Texts are told in full, and shorter where a tier is full.
    Which memory stands in which tier is chosen before; what is told whatever the budget stands in
    the first.
    """
    tiers = list(zip(HEADINGS, shares, strict=False))
    return Plan(
        name="working",
        sections=[
            Section(
                Room(tier, reserve=int(share * token_budget), inherits=place > 0),
                must=(lambda line: is_pinned(line) or is_identity(line)) if place == 0 else never,
                takes=always if place == 1 else never,
                write=partial(_below, HEADINGS[tier]),
                block="working",
            )
            for place, (tier, share) in enumerate(tiers)
        ],
        blocks=[
            Block(
                "working",
                opening=FRAME,
                closing=RULE,
                headings=tuple(HEADINGS.values()),
            )
        ],
        mandatory="identity and pinned memories",
        on_request=(),
    )


def _below(heading: str, line: Line) -> Written:
    return Written(line.render(), heading)


def topic_plan() -> Plan:
    """Returns the known memories of one topic, in the order of rank."""
    return Plan(
        name="topic",
        sections=[
            Section(Room("topic", share=1.0), takes=always, write=without_heading, block="topic")
        ],
        blocks=[Block("topic", opening=f"{TOPIC_TITLE}{MARKER}\n{RULE}\n{NOTICE}\n", closing=RULE)],
        on_request=(),
    )


_INDEX = Plan(
    name="index",
    sections=[Section(Room(ContextTier.INDEX, share=1.0), block="index")],
    blocks=[Block("index", opening=OPENING)],
)


@dataclass(frozen=True, slots=True)
class TopicIndex:
    """The tier, its tokens with the line before it, and the topics in it with their counts."""

    prompt: str = ""
    tokens: int = 0
    topics: tuple[tuple[str, int], ...] = ()


def topic_index(
    topics: Sequence[tuple[str, int]], *, token_budget: int, counter: TokenCounter
) -> TopicIndex:
    """As many of the topics as the budget holds, the first ones first."""
    texts = [
        Text(
            ContextTier.INDEX,
            Written(f"- {_name(topic)} ({count})", order=place),
            score=1 / (place + 1),
            key=UUID(int=place + 1),
        )
        for place, (topic, count) in enumerate(topics)
    ]
    room = max(0, token_budget - counter.count("\n\n"))
    found = assemble(plan=_INDEX, entries=(), texts=texts, token_budget=room, counter=counter)
    if not found.prompt:
        return TopicIndex()
    told = tuple(each for place, each in enumerate(topics, 1) if UUID(int=place) in found.quoted)
    return TopicIndex(found.prompt, counter.count(f"\n\n{found.prompt}"), told)


def untold(topics: Sequence[tuple[str, int]], *, told: Mapping[str, int]) -> list[tuple[str, int]]:
    """The topics with what of them is not told, most first, without those of which all is."""
    left = [(topic, count - told.get(topic, 0)) for topic, count in topics]
    return sorted((each for each in left if each[1] > 0), key=lambda each: (-each[1], each[0]))


def _name(topic: str) -> str:
    name = escaped_line(beginning(topic, longest=_MOST_TOPIC_CHARS))
    return name.replace("[", "&#91;").replace("]", "&#93;")


class Nearness(IntEnum):
    """The closeness of a memory to the open files."""

    FAR = 0
    TOPIC = 1
    FOLDER = 2
    FILE = 3


_NEAR_RANK = {Nearness.TOPIC: 0.6, Nearness.FOLDER: 0.8, Nearness.FILE: 0.95}
_NEAR_WHY = {
    Nearness.TOPIC: "on this topic",
    Nearness.FOLDER: "on this folder",
    Nearness.FILE: "on this file",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may be included, with the facts that decide its place.

    `rank` is what the question alone gives it, 0-1; `confidence` that of its prediction, with the
    `reasons`. `is_elsewhere` says that it names files far from the open ones, `is_repeated` that it
    stands several times in an open file, `is_liked` that it is a preference of the collaborator,
    `is_mandatory` that it is told whatever the budget. `opposites` are those that contradict it;
    `is_disputed` says that people have yet to settle which holds, `is_unconfirmed` that a tool or a
    page alone says it.
    """

    key: UUID
    rank: float
    content: str = ""
    memory_type: str = MemoryType.SEMANTIC.value
    form: str = ""
    nearness: Nearness = Nearness.FAR
    has_files: bool = False
    is_elsewhere: bool = False
    is_repeated: bool = False
    confidence: float = 0.0
    reasons: tuple[str, ...] = ()
    is_summary: bool = False
    is_liked: bool = False
    is_mandatory: bool = False
    opposites: frozenset[UUID] = frozenset()
    is_disputed: bool = False
    is_unconfirmed: bool = False


class Place(NamedTuple):
    """The tier of a memory, its rank there (0-1), and the reason."""

    tier: ContextTier
    rank: float
    why: str


def words_of(text: str) -> frozenset[str]:
    """The words of a path, branch or topic in lower case, without the shortest."""
    found = (each.lower() for each in _WORD.findall(text))
    return frozenset(each for each in found if len(each) >= _SHORTEST_WORD)


def folder_of(path: str) -> str:
    """Returns the part before the last slash, "" where there is none."""
    return path.rpartition("/")[0]


def nearness(signals: Signals, *, files: Iterable[str], topics: Iterable[str]) -> Nearness:
    """Returns the closeness of a memory's files, categories, tags and subject to the open ones."""
    named, opened = tuple(files), signals.files
    if any(_is_same(one, other) for one in named for other in opened):
        return Nearness.FILE
    folders = {folder_of(each) for each in opened} - {""}
    if any(_is_same(folder_of(one), other) for one in named for other in folders):
        return Nearness.FOLDER
    words = words_of(" ".join([*opened, signals.branch]))
    return Nearness.TOPIC if words & words_of(" ".join(topics)) else Nearness.FAR


def is_repeated(signals: Signals, *, places: Iterable[str]) -> bool:
    """Returns whether enough of the places, such as `src/a.py#L10-L20`, are in one open file."""
    paths = [each.partition("#")[0] for each in places]
    return any(
        sum(_is_same(one, other) for one in paths) >= _LEAST_REPEATS for other in signals.files
    )


def is_bound(near: Nearness, *, has_files: bool) -> bool:
    """Returns whether a memory applies to the open files: by its own, or without any by topic."""
    return near is Nearness.FILE or (near is Nearness.TOPIC and not has_files)


def _is_same(one: str, other: str) -> bool:
    """Returns whether both paths name the same file, one of them perhaps from further up."""
    return bool(one) and (one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}"))


def placed(candidates: Sequence[Candidate], *, errors: Collection[str]) -> dict[UUID, Place]:
    """The place of each; both sides of an open contradiction of what is in play are critical."""
    places = {each.key: _place(each, errors) for each in candidates}
    background = {key for key, place in places.items() if place.tier is ContextTier.BACKGROUND}
    for each in candidates:
        if (
            each.is_unconfirmed
            or not each.opposites
            or (each.key in background and not each.is_disputed)
        ):
            continue
        for key in (each.key, *each.opposites & places.keys()):
            if places[key].tier is not ContextTier.CRITICAL:
                places[key] = Place(
                    ContextTier.CRITICAL, max(_DISPUTE_RANK, places[key].rank), "it is disputed"
                )
    return places


def _place(each: Candidate, errors: Collection[str]) -> Place:
    if each.is_mandatory:
        return Place(ContextTier.CRITICAL, 1.0, "it is always told")
    if each.is_unconfirmed:
        return Place(ContextTier.BACKGROUND, each.rank, "a tool or a web page alone says it")
    if each.form in _OF_ERRORS or each.memory_type == MemoryType.EPISODIC:
        alike = max((shared_words(each.content, error) for error in errors), default=0.0)
        if alike >= SAME_ERROR:
            why = "it is about a recent error"
            return Place(ContextTier.CRITICAL, max(each.rank, 0.6 + 0.4 * min(alike, 1.0)), why)
    if each.form in _ACTIVE and is_bound(each.nearness, has_files=each.has_files):
        why = f"a {each.form} {_NEAR_WHY[each.nearness]}"
        return Place(ContextTier.CRITICAL, max(each.rank, _NEAR_RANK[each.nearness]), why)
    if each.is_liked:
        return Place(ContextTier.RELEVANT, max(each.rank, 0.5), "a preference of the collaborator")
    if each.form == Form.PATTERN:
        rank = 0.0 if each.has_files and not each.is_repeated else each.rank
        return Place(ContextTier.BACKGROUND, rank, WORDS_ALONE)
    background = _BACKGROUND.get(each.form, "")
    if each.is_summary:
        background = "a summary of what was"
    elif not background and each.memory_type == MemoryType.PROCEDURAL:
        background = "how something is done"
    if background:
        near = _NEAR_RANK.get(each.nearness, 0.0)
        return Place(ContextTier.BACKGROUND, max(each.rank, each.confidence, near), background)
    if each.confidence >= _LEAST_CHANCE:
        why = f"predicted: {'; '.join(each.reasons)}" if each.reasons else "predicted"
        return Place(ContextTier.RELEVANT, max(each.confidence, each.rank), why)
    why = WORDS_ELSEWHERE if each.is_elsewhere else WORDS_ALONE
    return Place(ContextTier.RELEVANT, each.rank, why)


def asked_of(signals: Signals, *, longest: int) -> str:
    """The question that the signals ask: the query and errors, else words of files and branch."""
    errors = [" ".join(each.split())[:_ERROR_CHARS] for each in signals.recent_errors]
    lines = [each for each in (signals.query, *errors) if each.strip()]
    if not lines:
        words = words_of(" ".join([*signals.files, signals.branch, signals.activity]))
        lines = [" ".join(sorted(words)) or _NOTHING_KNOWN]
    return "\n".join(lines)[:longest]
