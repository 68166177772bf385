"""The context of work in progress (seed 002)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import cast
from uuid import UUID

from redis.client import Pipeline

from memory.clients.afterwards import afterwards
from memory.domain.audience import Viewer
from memory.domain.plans.plan import RULE
from memory.domain.rendering import TokenCounter
from memory.domain.scoring import Weights
from memory.domain.talk import SUMMARY_TAG
from memory.domain.types import MemoryType, Signals, Status
from memory.reading.answers import Prompt
from memory.reading.cache import Predicted, key_of, prefetched
from memory.reading.conflicts import Clash
from memory.reading.messages import ScoredMessage
from memory.reading.packing import Chosen, Packing, line_of
from memory.reading.questions import MAX_QUERY_CHARS, Depth, Question, Read
from memory.reading.ranking import Ranked
from memory.reading.retrieval import prompt
from memory.reading.snapshots import at_snapshot
from memory.satellites.plans.placing import (
    DEFAULT_SHARES,
    FRAME,
    WORDS_ALONE,
    WORDS_ELSEWHERE,
    Activity,
    Candidate,
    ContextTier,
    Nearness,
    Place,
    TopicIndex,
    asked_of,
    is_bound,
    is_repeated,
    nearness,
    placed,
    shares_of,
    topic_index,
    topic_plan,
    untold,
    working_plan,
)
from memory.satellites.plans.predicting import predict
from memory.satellites.plans.selectors import (
    WorkingRow,
    files_of,
    of_topic,
    topic_counts,
    topics_of,
    working_set,
)
from memory.selectors.filters import NOBODY
from memory.selectors.names import PersonNames
from memory.selectors.revisions import Revision
from memory.selectors.search.signal_rows import SignalRow
from memory.understanding.tools import Tools
from routing.clients.quick_redis import quick_redis
from teams.errors import NotFoundError

_RECENT = timedelta(hours=24)
# A memory of less relevance (0-1) to the work in progress is left to the index, which names it.
_LEAST_RELEVANCE = 0.25
# The same for a memory that nothing but the words of the query speaks for. On two histories 2 of
# the 476 below were needed, and one in five touched the files at hand.
_LEAST_BY_WORDS = {WORDS_ALONE: 0.5, WORDS_ELSEWHERE: 0.7}
# Of an agent and project, so many errors of the last 24 hours, each of so many characters.
_MOST_KEPT_ERRORS, _ERROR_CHARS = 5, 300
# Of a topic so many are ranked at most.
_MOST_OF_TOPIC = 500


@dataclass(slots=True)
class Chooser:
    """Places the candidates, `kept` ones always; fills `places` and `topics`."""

    viewer: Viewer
    signals: Signals
    predicted: dict[UUID, Predicted]
    kept: frozenset[UUID]
    is_preferences_alone: bool
    collaborator_id: UUID | None
    errors: Sequence[str] = ()
    places: dict[UUID, Place] = field(default_factory=dict)
    topics: dict[UUID, frozenset[str]] = field(default_factory=dict)

    def choose(
        self, ranked: Sequence[Ranked], clashes: Sequence[Clash], names: PersonNames
    ) -> Chosen:
        """Returns the candidates in their tiers; of a collaborator only what they prefer."""
        ranked = [each for each in ranked if self._may_tell(each.row)]
        keys = {each.row.memory_id for each in ranked}
        files = files_of(team_id=self.viewer.team_id, ids=list(keys))
        opposites: dict[UUID, set[UUID]] = {
            each.row.memory_id: set(each.row.contradicts or ()) for each in ranked
        }
        clashes = [
            each for each in clashes if {each.earlier.memory_id, each.later.memory_id} <= keys
        ]
        for clash in clashes:
            one, other = clash.earlier.memory_id, clash.later.memory_id
            opposites[one].add(other)
            opposites[other].add(one)
        self.topics = {
            row.memory_id: topics_of(
                category=row.category,
                subject=row.subject,
                tags=row.tags or (),
                files=files.get(row.memory_id, ()),
            )
            for row in (each.row for each in ranked)
        }
        self.places = placed(
            [
                self._candidate(each, files.get(each.row.memory_id, ()), opposites)
                for each in ranked
            ],
            errors=self.errors,
        )
        chosen = [
            each._replace(rank=place.rank, score=place.rank)
            for each in ranked
            for place in [self.places[each.row.memory_id]]
            if place.rank >= _LEAST_BY_WORDS.get(place.why, 0.0)
        ]
        return Chosen(
            sorted(chosen, key=lambda each: -each.rank),
            clashes=clashes,
            sections={key: place.tier for key, place in self.places.items()},
        )

    def _may_tell(self, row: SignalRow) -> bool:
        is_theirs = row.end_user_id is not None and row.end_user_id == self.viewer.end_user_id
        return not (self.is_preferences_alone and is_theirs) or _is_liked(row)

    def _candidate(
        self, each: Ranked, files: Sequence[str], opposites: dict[UUID, set[UUID]]
    ) -> Candidate:
        row = each.row
        guess = self.predicted.get(row.memory_id)
        is_theirs = self.collaborator_id is not None and row.end_user_id == self.collaborator_id
        near = nearness(
            self.signals, files=files, topics=[row.category, row.subject, *(row.tags or ())]
        )
        return Candidate(
            key=row.memory_id,
            rank=each.rank,
            content=row.content,
            memory_type=row.memory_type,
            form=row.form,
            nearness=near,
            has_files=bool(files),
            is_elsewhere=bool(files and self.signals.files) and near is Nearness.FAR,
            is_repeated=is_repeated(self.signals, places=files),
            confidence=guess.confidence if guess else 0.0,
            reasons=guess.reasons if guess else (),
            is_summary=SUMMARY_TAG in (row.tags or ()),
            is_liked=is_theirs and _is_liked(row),
            is_mandatory=row.is_pinned or row.memory_type == MemoryType.IDENTITY,
            opposites=frozenset(opposites[row.memory_id]),
            is_disputed=row.status == Status.DISPUTED,
            is_unconfirmed=row.is_unconfirmed,
        )


def _is_liked(row: SignalRow) -> bool:
    return row.memory_type == MemoryType.USER_PROFILE or line_of(row, "", zone=UTC).is_preference


@dataclass(frozen=True, slots=True)
class WorkingContext:
    """The context, its tokens in all and by tier, and where each of its memories stands and why.

    `is_rebalanced` says that the shares are not the default ones, or that a tier has more than its
    share because another one left it free.
    """

    context: str
    token_count: int
    tiers: dict[ContextTier, int]
    places: dict[UUID, Place]
    index: TopicIndex
    activity: Activity | None
    is_rebalanced: bool
    retrieval: Prompt


def named_alone(viewer: Viewer) -> Viewer:
    """Returns the viewer who sees nothing of a project that is not named, as of such a person."""
    return replace(viewer, project_id=viewer.project_id or NOBODY)


def assemble_context(
    *,
    viewer: Viewer,
    signals: Signals,
    collaborator_id: UUID | None,
    weights: Weights,
    token_budget: int,
    counter: TokenCounter,
    tools: Tools,
    now: datetime,
) -> WorkingContext:
    """Returns what matters for the work in progress, within the budget.

    Nothing of a person or project is told unless the viewer names them; of a collaborator of that
    id, where the viewer names nobody, what they prefer and their profile.
    """
    named = named_alone(viewer)
    is_preferences_alone = viewer.end_user_id is None and collaborator_id is not None
    reader = named
    if is_preferences_alone:
        # Whose role nobody asked: told the less of the two.
        reader = replace(named, end_user_id=collaborator_id, is_guest=True)
    predicted = {each.memory_id: each for each in prefetched(viewer=viewer)}
    # What the errors say is asked of the one retrieval.
    unasked = replace(signals, recent_errors=())
    guesses = predict(viewer=named, signals=unasked, tools=tools, now=now, is_kept=False)
    predicted |= {each.memory_id: each for each in guesses}

    def standing(revision: Revision | None) -> tuple[list[WorkingRow], list[tuple[str, int]]]:
        rows = working_set(viewer=reader, files=signals.files, collaborator_id=collaborator_id)
        return rows, topic_counts(viewer=named, revision=revision)

    rows, topics = at_snapshot(standing, viewer=reader)
    kept = frozenset((*(row.memory_id for row in rows if _is_kept(row, signals)), *predicted))
    chooser = Chooser(
        viewer=reader,
        signals=signals,
        predicted=predicted,
        kept=kept,
        is_preferences_alone=is_preferences_alone,
        collaborator_id=collaborator_id,
    )
    errors = _recent_errors(viewer, signals.recent_errors, now)
    chooser.errors = errors
    shares = shares_of(_activity(signals))
    index = topic_index(topics, token_budget=int(shares[3] * token_budget), counter=counter)
    found = prompt(
        Read(
            viewer=reader,
            question=Question(
                asked_of(replace(signals, recent_errors=errors), longest=MAX_QUERY_CHARS)
            ),
            depth=Depth(
                include_cold=False,
                include_raw=bool(signals.recent_errors) and not is_preferences_alone,
            ),
            min_score=_LEAST_RELEVANCE,
            tools=tools,
            now=now,
            also=kept,
        ),
        packing=Packing(
            plan=working_plan(shares=shares, token_budget=token_budget),
            weights=weights,
            token_budget=token_budget - index.tokens,
            counter=counter,
            quoted_in=lambda message: _tier_of_message(message, now),
            choose=chooser.choose,
            keeps=lambda row: row.memory_id in kept,
        ),
    )
    return _with_index(found, chooser, topics, token_budget=token_budget, counter=counter)


def _recent_errors(viewer: Viewer, given: Sequence[str], now: datetime) -> tuple[str, ...]:
    """Keeps the errors, and returns them before those that were kept in the last 24 hours.

    Without Redis they are the given ones alone.
    """
    key, at = key_of("errors", viewer), now.timestamp()
    known = cast(
        "list[bytes] | None",
        quick_redis().ask(
            lambda client: client.zrevrangebyscore(
                key, at, at - _RECENT.total_seconds(), start=0, num=_MOST_KEPT_ERRORS
            )
        ),
    )
    if given:

        def keep(pipe: Pipeline) -> None:
            pipe.zadd(key, {each[:_ERROR_CHARS]: at for each in given})
            pipe.zremrangebyrank(key, 0, -_MOST_KEPT_ERRORS - 1)
            pipe.expire(key, _RECENT)

        afterwards(keep)
    kept = (each.decode(errors="replace") for each in known or ())
    return (*given, *(each for each in kept if each not in given))


def _is_kept(row: WorkingRow, signals: Signals) -> bool:
    """Returns whether a memory stays for any query: of decisions and failures only near ones."""
    if row.reason or row.form not in ("decision", "failure"):
        return True
    topics = [row.category, row.subject, *(row.tags or ())]
    files = row.files or ()
    return is_bound(nearness(signals, files=files, topics=topics), has_files=bool(files))


def _with_index(
    found: Prompt,
    chooser: Chooser,
    topics: list[tuple[str, int]],
    *,
    token_budget: int,
    counter: TokenCounter,
) -> WorkingContext:
    """Returns the memories found, with an index of the topics that they do not cover.

    Topics are data of memories too, so they stand before the rule that ends the block.
    """
    told = [each.row.memory_id for each in found.told]
    counted = Counter(topic for key in told for topic in chooser.topics[key])
    block = found.formatted_prompt or f"{FRAME}\n\n{RULE}"
    index = topic_index(
        untold(topics, told=counted),
        token_budget=token_budget - counter.count(block),
        counter=counter,
    )
    context = found.formatted_prompt
    if index.prompt:
        context = f"{block.removesuffix(RULE)}{index.prompt}\n\n{RULE}"
    used = found.assembly.tokens if found.assembly else {}
    tiers = {tier: used.get(tier, 0) for tier in ContextTier} | {ContextTier.INDEX: index.tokens}
    activity = _activity(chooser.signals)
    shares = shares_of(activity)
    has_more = any(
        tiers[tier] > share * token_budget for tier, share in zip(ContextTier, shares, strict=True)
    )
    return WorkingContext(
        context=context,
        token_count=counter.count(context),
        tiers=tiers,
        places={key: chooser.places[key] for key in told},
        index=index,
        activity=activity,
        is_rebalanced=shares != DEFAULT_SHARES or has_more,
        retrieval=found,
    )


def expand_topic(
    *,
    viewer: Viewer,
    topic: str,
    weights: Weights,
    token_budget: int,
    counter: TokenCounter,
    tools: Tools,
    now: datetime,
) -> Prompt:
    """Returns the memories of a topic within the budget; NotFoundError where there are none."""
    found = prompt(
        Read(
            viewer=named_alone(viewer),
            question=Question(topic),
            limit=_MOST_OF_TOPIC,
            depth=Depth(include_cold=False, include_raw=False),
            rows=of_topic(topic),
            tools=tools,
            now=now,
        ),
        packing=Packing(
            plan=topic_plan(),
            weights=weights,
            token_budget=token_budget,
            counter=counter,
            keeps=lambda _: True,
        ),
    )
    if not found.considered.relevant.memories:
        raise NotFoundError(
            f"There is no topic '{topic}'. The index of an assembled context names those that are.",
            field="topic",
        )
    return found


def _activity(signals: Signals) -> Activity | None:
    if signals.activity:
        return Activity(signals.activity)
    return Activity.DEBUGGING if signals.recent_errors else None


def _tier_of_message(message: ScoredMessage, now: datetime) -> ContextTier:
    is_recent = now - message.said_at <= _RECENT
    return ContextTier.CRITICAL if is_recent else ContextTier.RELEVANT
