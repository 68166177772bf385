"""Scores the quoting extractor on a file of labelled conversations.

Run as ``python -m benchmarks.extraction --data FILE [--llm] [--verbose]``; the scores are those
that the data's README defines. ``--llm`` scores EXTRACTION_MODEL (and REVIEW_MODEL) as well.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from memory.domain.types import Candidate, MemoryType, Participants, Role, SourceMessage
from memory.understanding.ports import Extractor, ReviewingExtractor
from memory.understanding.quoting import QuotingExtractor
from memory.understanding.tools import configured_tools

DEFAULT_DATA = Path(__file__).parent / "labelled" / "extraction" / "dev.jsonl"


@dataclass(slots=True)
class Score:
    """Counts over all conversations; the README's figures are their quotients."""

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
    extractors: Counter[str] = field(default_factory=Counter)

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
        told = "  ".join(
            f"{name} {part / whole if whole else 0:.3f}" for name, part, whole in figures
        )
        return f"{title:<28} {told}  of {self.produced}"


def read_conversation(*, item: dict[str, Any]) -> tuple[list[SourceMessage], Participants]:
    """A labelled conversation as messages one minute apart; `item` is one JSON line of the data."""
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


def score_conversation(
    *, score: Score, item: dict[str, Any], produced: Sequence[Candidate]
) -> None:
    """Add one conversation's matches, misses and violations to the score."""
    texts = [_rendered(candidate).lower() for candidate in produced]
    indexes = [{source.int - 1 for source in candidate.message_ids} for candidate in produced]
    matching: set[int] = set()
    for gold in item["gold"]:
        score.golds += 1
        hits = [
            number
            for number, text in enumerate(texts)
            if indexes[number] & set(gold["messages"])
            and all(needle in text for needle in gold["must_contain"])
        ]
        matching.update(hits)
        if not hits:
            score.notes.append(f"{item['id']} MISSED {gold['type']}: {gold['gist']}")
            continue
        _judge_best(score, item, gold, [produced[number] for number in hits])
    score.produced += len(produced)
    score.unmatched += len(produced) - len(matching)
    loose = [number for number in range(len(produced)) if number not in matching]
    score.notes.extend(
        f"{item['id']} UNMATCHED p{produced[number].extraction_pass} "
        f"{produced[number].memory_type} {produced[number].importance}: {produced[number].content}"
        for number in loose
    )
    for entry in item["must_not"]:
        score.forbidden += 1
        needles = [needle.strip() for needle in entry.split(" + ")]
        for number in loose:
            if all(needle in texts[number] for needle in needles):
                score.violations += 1
                score.notes.append(f"{item['id']} VIOLATION {entry!r}: {produced[number].content}")
                break


def _rendered(candidate: Candidate) -> str:
    """The memory's text with the resolved date beside it, as a prompt shows it."""
    at = candidate.valid_from or candidate.valid_to
    return f"{candidate.content} [{at:%Y-%m-%d}]" if at else candidate.content


def _is_confided(hit: Candidate, gold: dict[str, Any]) -> bool:
    """Rightly an agent's own: its audience takes the place of its type."""
    return hit.memory_type is MemoryType.AGENT_PRIVATE and gold.get("audience") == "agent"


def _judge_best(
    score: Score, item: dict[str, Any], gold: dict[str, Any], hits: Sequence[Candidate]
) -> None:
    def merits(hit: Candidate) -> tuple[bool, bool, bool]:
        return (
            hit.memory_type.value == gold["type"] or _is_confided(hit, gold),
            gold["importance_min"] <= hit.importance <= gold["importance_max"],
            hit.is_pinned == gold["pinned"],
        )

    best = max(hits, key=lambda hit: sum(merits(hit)))
    right_type, in_range, right_pin = merits(best)
    score.matched += 1
    score.right_type += right_type
    score.in_range += in_range
    score.right_pin += right_pin
    if "audience" in gold:
        score.with_audience += 1
        score.right_audience += best.audience == gold["audience"]
    if not (right_type and in_range and right_pin):
        score.notes.append(
            f"{item['id']} LABEL {best.memory_type} {best.importance} pin={best.is_pinned}, wanted "
            f"{gold['type']} {gold['importance_min']}-{gold['importance_max']} "
            f"pin={gold['pinned']}: {best.content}"
        )


def run(
    *,
    extractor: Extractor,
    items: Sequence[dict[str, Any]],
    clock: Callable[[], float] = time.process_time,
) -> tuple[Score, float]:
    """The score, and messages per second."""
    score, count, spent = Score(), 0, 0.0
    for item in items:
        messages, participants = read_conversation(item=item)
        begin = clock()
        found = extractor.extract(messages=messages, context=[], participants=participants)
        if isinstance(extractor, ReviewingExtractor):
            found += extractor.review(
                messages=messages, context=[], participants=participants, first_pass=found
            )
        spent += clock() - begin
        count += len(messages)
        score_conversation(score=score, item=item, produced=found)
        score.extractors.update(each.extractor or extractor.name for each in found)
    return score, count / spent if spent else 0.0


def model_extractor() -> Extractor:
    """The extractor of EXTRACTION_MODEL; exits where none is set."""
    extractor = configured_tools().extractor
    if isinstance(extractor, QuotingExtractor):
        raise SystemExit("Set EXTRACTION_MODEL, and OPENAI_BASE_URL or OPENAI_API_KEY.")
    return extractor


def main() -> None:
    """Print every figure, and with --verbose each miss, stray memory and violation."""
    parser = argparse.ArgumentParser(description="Score the extractor.")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--llm", action="store_true", help="score the extraction model as well")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    with options.data.open(encoding="utf-8") as lines:
        items = [json.loads(line) for line in lines if line.strip()]
    extractor = QuotingExtractor()
    run(extractor=extractor, items=items[:2])
    _report(extractor.name, run(extractor=extractor, items=items), verbose=options.verbose)
    if options.llm:
        model = model_extractor()
        found = run(extractor=model, items=items, clock=time.perf_counter)
        _report(f"{model.name}, waiting included", found, verbose=options.verbose)
        # The small model stands in where the language model fails: who wrote what says how often.
        print("memories by " + ", ".join(f"{n} {c}" for n, c in found[0].extractors.items()))


def _report(title: str, found: tuple[Score, float], *, verbose: bool) -> None:
    score, speed = found
    if verbose:
        print("\n".join(score.notes))
    print(score.line(title))
    print(f"messages per second {speed:,.1f}")


if __name__ == "__main__":
    main()
