"""Do we judge what belongs together, and leave alone what does not?

Takes labelled pairs (`--data FILE ...`, the format of benchmarks/contradictions.py) and plays them
as a stream: all the existing statements, then all the new ones, each against its nearest
neighbours. Prints the share of labelled conflicts that are found with their right partner, and the
share of memories that conflict with anything else, at several bounds. `--talk FILE ...` extracts
LoCoMo conversations by the rules and adds the share of their memories that conflict with another:
such talk tells hardly any change, so that nearly all of these are wrong. `--fit` fits the weights
of `memory/domain/judging/related_weights.py` on the pairs (related) against pairs of different
items (unrelated), and prints nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from benchmarks.contradictions import Pair, read_pairs
from benchmarks.locomo_data import read_sample
from memory.clients.embedders import WordLlamaEmbedder
from memory.domain.extraction.rules import RulesExtractor
from memory.domain.judging import related_weights
from memory.domain.judging.hearing import Bound
from memory.domain.judging.pairs.evidence import weigh
from memory.domain.judging.pairs.features import features_of
from memory.domain.judging.pairs.told import is_reported, may_contradict
from memory.domain.judging.paths import as_compared, is_specific
from memory.domain.judging.relatedness import names_change, relatedness
from memory.domain.judging.rules import RulesJudge
from memory.domain.types import (
    Judgement,
    Participants,
    Role,
    SourceMessage,
    Statement,
    Verdict,
)
from memory.domain.wording import check_wording

CONFLICT = (Verdict.SUPERSEDE, Verdict.DISPUTE)
Matrix = NDArray[np.float64]
# As many as the write path looks through for what a statement says has changed.
WIDE_LOOK = 40


@dataclass(frozen=True, slots=True)
class Meeting:
    """What a judge would say of a new memory and one of its neighbours."""

    new: int
    existing: int
    same_subject: bool
    related: float
    is_named: bool
    is_plain: bool
    judgement: Judgement

    def conflicts(self, *, bound: Bound, only_plain: bool) -> bool:
        """Whether the memory would be disputed or superseded at these bounds."""
        if self.judgement.verdict not in CONFLICT:
            return False
        near = self.related >= bound.relatedness and (self.is_plain or not only_plain)
        is_met = near or self.is_named or self.same_subject
        return is_met and self.judgement.confidence >= bound.sureness


def unrelated(*, pairs: Sequence[Pair], embedder: WordLlamaEmbedder) -> list[Pair]:
    """Near pairs made of two different items."""
    old = embedder.embed([pair.existing.content for pair in pairs])
    new = embedder.embed([pair.new.content for pair in pairs])
    found: list[Pair] = []
    for index, row in enumerate(new @ old.T):
        found.extend(
            replace(pairs[index], existing=pairs[other].existing)
            for other in np.argsort(-row)[:8]
            if other != index and row[other] >= 0.25
        )
    return found


def fit(
    *, pairs: Sequence[Pair], embedder: WordLlamaEmbedder
) -> tuple[float, float, dict[str, float]]:
    """Logistic regression with an L2 penalty; both classes weigh the same."""
    negatives = unrelated(pairs=pairs, embedder=embedder)
    everything = [*pairs, *negatives]
    rows = [features_of(weigh(pair.existing, pair.new)) for pair in everything]
    names = sorted({name for row in rows for name in row})
    old = embedder.embed([pair.existing.content for pair in everything])
    new = embedder.embed([pair.new.content for pair in everything])
    cosine = (old * new).sum(axis=1)[:, None].astype(float)
    x: Matrix = np.hstack(
        [[[row.get(name, 0.0) for name in names] for row in rows], cosine, cosine * np.abs(cosine)]
    )
    y = np.r_[np.ones(len(pairs)), np.zeros(len(negatives))]
    weight = np.where(y == 1, len(negatives) / len(pairs), 1.0)
    w = np.zeros(x.shape[1])
    momentum = np.zeros_like(w)
    for _ in range(3000):
        odds = 1 / (1 + np.exp(-x @ w))
        gradient = (x.T @ ((odds - y) * weight) + 3.0 * w) / len(y)
        momentum = 0.9 * momentum + gradient
        w -= 0.2 * momentum
    table = {name: round(float(value), 2) for name, value in zip(names, w, strict=False)}
    return round(float(w[-2]), 2), round(float(w[-1]), 2), table


def write_weights(*, cosine: float, square: float, table: dict[str, float], path: Path) -> None:
    """Write the module that `relatedness` reads its weights from."""
    lines = [
        '"""Data: what makes two statements speak of the same matter.',
        "",
        "Fitted by `python -m benchmarks.relatedness --data FILE ... --fit`, not by hand, with the",
        "vectors of the embedded embedder.",
        '"""',
        "",
        f"COSINE = {cosine}",
        f"SQUARE = {square}",
        "",
        "WEIGHTS: dict[str, float] = {",
    ]
    lines.extend(f'    "{name}": {value},' for name, value in table.items())
    path.write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


def meetings(
    *, stream: Sequence[Statement], embedder: WordLlamaEmbedder, nearest: int
) -> list[Meeting]:
    """Each statement against its nearest earlier ones."""
    judge = RulesJudge()
    vectors = embedder.embed([statement.content for statement in stream])
    found = []
    for index in range(1, len(stream)):
        near = vectors[:index] @ vectors[index]
        for place, other in enumerate(np.argsort(-near)[:WIDE_LOOK]):
            same = is_specific(stream[index].subject)
            same = same and stream[other].subject == stream[index].subject
            old, new = as_compared(stream[other], stream[index])
            is_named = bool(names_change(existing=old, new=new))
            close = place < nearest and near[other] >= embedder.opposition_similarity
            if not (close or (same and place < nearest) or is_named):
                continue
            related = relatedness(existing=old, new=new, similarity=float(near[other]))
            found.append(
                Meeting(
                    index,
                    int(other),
                    same,
                    related if close else 0.0,
                    is_named and not is_reported(new),
                    may_contradict(old, new),
                    judge.judge(existing=old, new=new),
                )
            )
    return found


def memories_of(*, path: Path) -> list[Statement]:
    """What the rules distil from a LoCoMo conversation, in its order."""
    sample, extractor = read_sample(path=path), RulesExtractor()
    names = sorted({turn.name for turn in sample.turns})
    participants = Participants(user=names[0], agent="agent")
    found: dict[str, Statement] = {}
    for transcript in sample.transcripts:
        messages = [
            SourceMessage(
                uuid4(),
                place,
                Role.USER if turn.name == names[0] else Role.ASSISTANT,
                turn.content,
                turn.created_at,
                turn.name,
            )
            for place, turn in enumerate(transcript.turns, start=1)
            if turn.created_at is not None
        ]
        said_at = {message.id: message.created_at for message in messages}
        first = extractor.extract(messages=messages, context=(), participants=participants)
        second = extractor.review(
            messages=messages, context=(), participants=participants, first_pass=first
        )
        for candidate in (*first, *second):
            at = said_at[candidate.message_ids[-1]]
            worded = check_wording(candidate, said_at=at).candidate
            if worded is not None:
                statement = Statement(worded.content, at, worded.subject)
                found.setdefault(statement.content, statement)
    return list(found.values())


def main() -> None:
    """Read the command line, play the streams and print the table, or fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="JSON lines of pairs")
    parser.add_argument("--talk", type=Path, nargs="+", default=[], help="LoCoMo conversations")
    parser.add_argument("--nearest", type=int, default=3, help="neighbours judged")
    parser.add_argument("--fit", action="store_true", help="fit and store the weights, no figures")
    options = parser.parse_args()
    pairs = [pair for path in options.data for pair in read_pairs(path=path)]
    embedder = WordLlamaEmbedder()
    if options.fit:
        cosine, square, table = fit(pairs=pairs, embedder=embedder)
        path = Path(related_weights.__file__)
        write_weights(cosine=cosine, square=square, table=table, path=path)
        return
    stream = [pair.existing for pair in pairs] + [pair.new for pair in pairs]
    met = meetings(stream=stream, embedder=embedder, nearest=options.nearest)
    talks = [memories_of(path=path) for path in options.talk]
    heard = [meetings(stream=talk, embedder=embedder, nearest=options.nearest) for talk in talks]
    told = sum(map(len, talks))
    conflicts = sum(pair.label in CONFLICT for pair in pairs)
    print(f"{len(pairs)} pairs as a stream of {len(stream)}, {options.nearest} neighbours judged")
    print(f"{told} memories of {len(talks)} conversations")
    print(f"{'related':>8}{'sure':>6}{'plain':>7}{'found':>8}{'false':>8}{'in talk':>9}")
    for related, sure, plain in product((0.0, 0.4, 0.5, 0.7, 0.85), (0.0, 0.5, 0.7), (False, True)):
        bound = Bound(related, sure)
        acted = [each for each in met if each.conflicts(bound=bound, only_plain=plain)]
        partners = [each for each in acted if each.new - len(pairs) == each.existing]
        right = sum(pairs[each.existing].label in CONFLICT for each in partners)
        wrong = {each.new for each in acted} - {each.new for each in partners}
        in_talk = sum(
            len({each.new for each in talk if each.conflicts(bound=bound, only_plain=plain)})
            for talk in heard
        )
        print(
            f"{related:>8}{sure:>6}{plain!s:>7}{right / max(1, conflicts):>8.3f}"
            f"{len(wrong) / len(stream):>8.3f}{in_talk / max(1, told):>9.3f}"
        )


if __name__ == "__main__":
    main()
