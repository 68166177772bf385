"""Labelled pairs and conversations, and the scores of judges and extractors on them."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from benchmarks.ground import new_team, scope_of
from memory.domain.audience import Viewer
from memory.domain.types import (
    Candidate,
    Judgement,
    MemoryType,
    Participants,
    Role,
    SourceMessage,
    Statement,
    Verdict,
)
from memory.models import Contradiction
from memory.understanding.ports import Extractor, Judge, PreparingJudge, ReviewingExtractor
from memory.understanding.tools import default_tools
from memory.writing.drafts import MemoryDraft, Outcome, WriteResult
from memory.writing.write_path import write_memories

CONFLICTS: Final = frozenset({Verdict.SUPERSEDE, Verdict.DISPUTE})
_ASKED_AT_ONCE: Final = 20
Json = dict[str, Any]  # Any: JSON


def read_lines(path: Path) -> list[Json]:
    """The objects of a JSON-lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


@dataclass(frozen=True, slots=True)
class Pair:
    """A labelled pair; `is_frame` marks different facts in one sentence frame."""

    id: str
    existing: Statement
    new: Statement
    label: Verdict
    why: str
    is_hard: bool
    is_frame: bool


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a JSON-lines file, in its order."""
    return [
        Pair(
            id=str(row["id"]),
            existing=_statement(row, "existing"),
            new=_statement(row, "new"),
            label=Verdict(row["label"]),
            why=row.get("why", ""),
            is_hard=bool(row.get("hard")),
            is_frame=bool(row.get("frame")),
        )
        for row in read_lines(path)
    ]


def _statement(row: Json, side: str) -> Statement:
    at = datetime.fromisoformat(row[f"{side}_at"])
    return Statement(row[side], at, row[f"{side}_subject"] or "")


def pair_scores(both: Sequence[tuple[Verdict, Verdict]]) -> str:
    """Recall and precision of conflict (supersede or dispute), and four-way accuracy.

    `both` are labels with verdicts.
    """
    hits = sum(label in CONFLICTS and found in CONFLICTS for label, found in both)
    recall = hits / max(1, sum(label in CONFLICTS for label, _ in both))
    precision = hits / max(1, sum(found in CONFLICTS for _, found in both))
    accuracy = sum(label is found for label, found in both) / max(1, len(both))
    return (
        f"n={len(both):<4} conflict recall {recall:.3f}  precision {precision:.3f}"
        f"  four-way accuracy {accuracy:.3f}"
    )


def report_pairs(*, title: str, pairs: Sequence[Pair], judge: Judge, is_verbose: bool) -> None:
    """Judges all pairs and prints scores, confusion matrix and, if verbose, the failures."""
    judgements: list[Judgement] = []
    for start in range(0, len(pairs), _ASKED_AT_ONCE):
        batch = pairs[start : start + _ASKED_AT_ONCE]
        if isinstance(judge, PreparingJudge):
            judge.prepare([(pair.existing, pair.new) for pair in batch])
        judgements += [judge.judge(existing=pair.existing, new=pair.new) for pair in batch]
    judged = [(pair, each.verdict) for pair, each in zip(pairs, judgements, strict=True)]
    print(f"== {title}, {judge.name}")
    print("all ", pair_scores([(pair.label, found) for pair, found in judged]))
    print("hard", pair_scores([(pair.label, found) for pair, found in judged if pair.is_hard]))
    frames = [found in CONFLICTS for pair, found in judged if pair.is_frame]
    if frames:
        print(f"of {len(frames)} pairs of different facts in one frame {sum(frames)} in conflict")
    print(f"{'label / verdict':16}" + "".join(f"{verdict.value:>11}" for verdict in Verdict))
    for label in Verdict:
        row = Counter(found for pair, found in judged if pair.label is label)
        print(f"{label.value:16}" + "".join(f"{row[verdict]:>11}" for verdict in Verdict))
    for pair, judgement in zip(pairs, judgements, strict=True) if is_verbose else ():
        if pair.label is not judgement.verdict:
            print(f"\n{pair.id}: {pair.label.value}, judged {judgement.verdict.value}")
            print(f"  existing: {pair.existing.content}  [{pair.existing.subject}]")
            print(f"  new:      {pair.new.content}  [{pair.new.subject}]")
            print(f"  label:    {pair.why}\n  judge:    {judgement.reason}")


def store_statement(viewer: Viewer, statement: Statement) -> WriteResult:
    """Writes a statement that is about nobody."""
    draft = MemoryDraft(
        team_id=viewer.team_id,
        content=statement.content,
        memory_type=MemoryType.SEMANTIC,
        importance=5,
        extractor="benchmark",
        created_at=statement.at,
        subject=statement.subject,
    )
    (result,) = write_memories(viewer=viewer, drafts=[draft], tools=default_tools())
    return result


def report_stored_pairs(*, title: str, pairs: Sequence[Pair]) -> None:
    """Prints the scores of the whole write path.

    The existing statements are written into one throwaway team, then the new ones, so that each is
    compared with all others too.
    """
    viewer = new_team("pairs")
    old = [store_statement(viewer, pair.existing).memory.pk for pair in pairs]
    both: list[tuple[Verdict, Verdict]] = []
    elsewhere = 0
    for pair, partner in zip(pairs, old, strict=True):
        result = store_statement(viewer, pair.new)
        if result.outcome is Outcome.DUPLICATE:
            is_partner = result.memory.pk == partner
            both.append((pair.label, Verdict.DUPLICATE if is_partner else Verdict.COEXIST))
            continue
        with scope_of(viewer):
            rows = Contradiction.objects.filter(
                verdict__in=[each.value for each in CONFLICTS]
            ).filter(Q(memory_a=result.memory) | Q(memory_b=result.memory))
            found = {pk: row.verdict for row in rows for pk in (row.memory_a_id, row.memory_b_id)}
        both.append((pair.label, Verdict(found.pop(partner, Verdict.COEXIST))))
        elsewhere += bool(found.keys() - {result.memory.pk})
    print(f"== {title}, stored\nall ", pair_scores(both))
    print(f"{elsewhere} of {len(pairs)} came into conflict with another than their partner")


@dataclass(slots=True)
class TalkScore:
    """Counts over labelled conversations."""

    golds: int = 0
    matched: int = 0
    right_type: int = 0
    in_range: int = 0
    right_pin: int = 0
    with_audience: int = 0
    right_audience: int = 0
    produced: int = 0
    unmatched: int = 0
    forbidden: int = 0
    violations: int = 0
    notes: list[str] = field(default_factory=list)

    def line(self, title: str) -> str:
        """The figures on one line."""
        figures = (
            ("recall", self.matched, self.golds),
            ("unmatched", self.unmatched, self.produced),
            ("type", self.right_type, self.matched),
            ("importance", self.in_range, self.matched),
            ("pinned", self.right_pin, self.matched),
            ("must-not", self.violations, self.forbidden),
            ("audience", self.right_audience, self.with_audience),
        )
        told = "  ".join(f"{name} {part / max(1, whole):.3f}" for name, part, whole in figures)
        return f"{title:<28} {told}  of {self.produced}"

    def add(self, *, item: Json, produced: Sequence[Candidate]) -> None:
        """Counts one conversation's matches, misses and violations."""
        texts = [_rendered(candidate).lower() for candidate in produced]
        indexes = [{source.int - 1 for source in candidate.message_ids} for candidate in produced]
        matching: set[int] = set()
        for gold in item["gold"]:
            hits = [
                number
                for number, text in enumerate(texts)
                if indexes[number] & set(gold["messages"])
                and all(needle in text for needle in gold["must_contain"])
            ]
            matching.update(hits)
            self.golds += 1
            if hits:
                self._judge_best(gold, [produced[number] for number in hits])
            else:
                self.notes.append(f"{item['id']} MISSED {gold['type']}: {gold['gist']}")
        loose = [number for number in range(len(produced)) if number not in matching]
        self.produced += len(produced)
        self.unmatched += len(loose)
        self.notes += [f"{item['id']} UNMATCHED {produced[each].content}" for each in loose]
        for entry in item["must_not"]:
            needles = [needle.strip() for needle in entry.split(" + ")]
            self.forbidden += 1
            self.violations += any(all(n in texts[each] for n in needles) for each in loose)

    def _judge_best(self, gold: Json, hits: Sequence[Candidate]) -> None:
        def merits(hit: Candidate) -> tuple[bool, bool, bool]:
            # A confided memory is rightly the agent's own: its audience stands for its type.
            is_own = hit.memory_type is MemoryType.AGENT_PRIVATE and gold.get("audience") == "agent"
            return (
                hit.memory_type.value == gold["type"] or is_own,
                gold["importance_min"] <= hit.importance <= gold["importance_max"],
                hit.is_pinned == gold["pinned"],
            )

        best = max(hits, key=lambda hit: sum(merits(hit)))
        right_type, in_range, right_pin = merits(best)
        self.matched += 1
        self.right_type += right_type
        self.in_range += in_range
        self.right_pin += right_pin
        if "audience" in gold:
            self.with_audience += 1
            self.right_audience += best.audience == gold["audience"]


def _rendered(candidate: Candidate) -> str:
    """The memory's text with the resolved date beside it, as a prompt shows it."""
    at = candidate.valid_from or candidate.valid_to
    return f"{candidate.content} [{at:%Y-%m-%d}]" if at else candidate.content


def read_conversation(item: Json) -> tuple[list[SourceMessage], Participants]:
    """A labelled conversation as messages one minute apart."""
    started = datetime.fromisoformat(item["started_at"])
    messages = [
        SourceMessage(
            id=UUID(int=position + 1),
            position=position,
            role=Role(message["role"]),
            content=message["content"],
            created_at=started + timedelta(minutes=position),
            name=message.get("name", ""),
        )
        for position, message in enumerate(item["messages"])
    ]
    role = item.get("person", "")
    return messages, Participants(user=item["user"], agent=item["agent"], role=role)


def report_talk(
    *,
    title: str,
    extractor: Extractor,
    items: Sequence[Json],
    is_verbose: bool,
    clock: Callable[[], float] = time.process_time,
) -> None:
    """Extracts from all conversations and prints the scores and the time of a message."""
    score, count, spent = TalkScore(), 0, 0.0
    for item in items:
        messages, participants = read_conversation(item)
        begin = clock()
        found = extractor.extract(messages=messages, context=[], participants=participants)
        if isinstance(extractor, ReviewingExtractor):
            found += extractor.review(
                messages=messages, context=[], participants=participants, first_pass=found
            )
        spent += clock() - begin
        count += len(messages)
        # What is not English is returned unread, and a rule refuses it.
        score.add(item=item, produced=[each for each in found if each.confidence])
    if is_verbose:
        print("\n".join(score.notes))
    print(score.line(f"{title}, {extractor.name}"), f" {1000 * spent / count:.1f} ms a message")
