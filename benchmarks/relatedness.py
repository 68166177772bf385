"""Do we judge what belongs together, and leave alone what does not?

Takes labelled pairs (`--data FILE ...`, the format of benchmarks/contradictions.py) and plays them
as a stream: all the existing statements, then all the new ones, each against its nearest
neighbours. Prints the share of labelled conflicts that are found with their right partner, and the
share of memories that conflict with anything else, at several thresholds. `--fit` fits the weights
of `memory/domain/judging/related_weights.py` on the pairs (related) against pairs of different
items (unrelated), and prints nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.contradictions import Pair, read_pairs
from memory.clients.embedders import WordLlamaEmbedder
from memory.domain.judging import related_weights
from memory.domain.judging.evidence import weigh
from memory.domain.judging.features import features_of
from memory.domain.judging.relatedness import Change, is_specific, names_change, relatedness
from memory.domain.judging.rules import RulesJudge
from memory.domain.types import Statement, Verdict

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
    change: Change
    verdict: Verdict
    confidence: float


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
            old, new = stream[other], stream[index]
            same = is_specific(new.subject) and old.subject == new.subject
            change = names_change(existing=old, new=new)
            close = place < nearest and near[other] >= embedder.opposition_similarity
            if not (close or (same and place < nearest) or change):
                continue
            judgement = judge.judge(existing=old, new=new)
            related = relatedness(existing=old, new=new, similarity=float(near[other]))
            found.append(
                Meeting(
                    index,
                    int(other),
                    same,
                    related if close else 0.0,
                    change,
                    judgement.verdict,
                    judgement.confidence,
                )
            )
    return found


def main() -> None:
    """Read the command line, play the stream and print the table, or fit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="JSON lines of pairs")
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
    conflicts = sum(pair.label in CONFLICT for pair in pairs)
    print(f"{len(pairs)} pairs as a stream of {len(stream)}, {options.nearest} neighbours judged")
    print(f"{'related':>8}{'sure':>6}{'conflicts found':>17}{'memories in a false conflict':>30}")
    for related in (0.0, 0.3, 0.5, 0.73, 0.88, 0.95):
        for sure in (0.0, 0.7):
            # What was stated on purpose may name a change of the aspect, what was distilled from
            # talk must name what is over.
            named = Change.ENDED if sure else Change.OF_ASPECT
            acted = [
                each
                for each in met
                if each.verdict in CONFLICT
                and (
                    each.same_subject
                    or (
                        (each.related >= related or each.change >= named)
                        and each.confidence >= sure
                    )
                )
            ]
            partners = [each for each in acted if each.new - len(pairs) == each.existing]
            right = sum(pairs[each.existing].label in CONFLICT for each in partners)
            wrong = {each.new for each in acted} - {each.new for each in partners}
            print(
                f"{related:>8}{sure:>6}{right / max(1, conflicts):>17.3f}"
                f"{len(wrong) / len(stream):>30.3f}"
            )


if __name__ == "__main__":
    main()
