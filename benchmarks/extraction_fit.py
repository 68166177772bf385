"""Fits the weights by which the rules extractor keeps and files clauses.

Run as ``python -m benchmarks.extraction_fit --data FILE ... [--clauses FILE ...] [--test FILE ...]
[--fit]``: prints what weights fitted on the first files get right on those of ``--test``;
``--fit`` writes them where the extractor reads them. A file of clauses holds one a line, behind
the letter of its type (s, e, p, u) or "-" for none, and a bar.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memory.domain.extraction import RulesExtractor
from memory.domain.extraction.admitting import admission_weights, filing_weights
from memory.domain.extraction.admitting.admission import MARGIN, TYPES, Admission, Weighed
from memory.domain.extraction.admitting.evidence import UNANSWERED, Heard, evidence

from .extraction import read_conversation

PENALTY = 6.0
TYPE_PENALTY = 3.0
STEPS = 400
# Evidence that fewer clauses show gets no weight.
RARE = 3
_FORBIDDEN_WEIGHT = 2.0
_PARTIAL_WEIGHT = 0.7
_BARS = (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0)
# What a clause without its conversation cannot show.
_OF_PLACE = ("first sentence", "later sentence", "asked", "joined", "no echo")
_MARKS = {
    "s": "semantic", "e": "episodic", "p": "procedural", "u": "user_profile", "-": "",
}  # fmt: skip

TypeWeights = dict[str, tuple[float, float, float, float]]


@dataclass(frozen=True, slots=True)
class Trial:
    """A clause with its evidence and what the labels say of it.

    `memory_type` is the gold's, "" where it matches none; `filed`, the one of the patterns.
    """

    evidence: tuple[str, ...]
    kept: bool
    weight: float
    memory_type: str
    filed: str


class _Listening(Admission):
    """Keeps every clause and remembers it."""

    def __init__(self) -> None:
        super().__init__(weights={}, types={}, bar=float("-inf"))
        self.heard: list[Heard] = []

    def weigh(self, heard: Heard) -> Weighed:
        self.heard.append(heard)
        return super().weigh(heard)


def trials_of(*, item: dict[str, Any]) -> list[Trial]:
    """The clauses of one labelled conversation that the extractor weighs."""
    messages, participants = read_conversation(item=item)
    listening = _Listening()
    extractor = RulesExtractor(admission=listening)
    first = extractor.extract(messages=messages, context=[], participants=participants)
    extractor.review(messages=messages, context=[], participants=participants, first_pass=first)
    return [_labelled(item, heard) for heard in listening.heard]


def _labelled(item: dict[str, Any], heard: Heard) -> Trial:
    """Kept is what holds at least half of a gold's strings and one of its messages."""
    text = heard.told.lower()
    sources = {source.int - 1 for source in heard.unit.sources}
    best, kind = 0.0, ""
    for gold in item["gold"]:
        needles = gold["must_contain"]
        share = sum(needle in text for needle in needles) / len(needles)
        if sources & set(gold["messages"]) and share > best:
            best, kind = share, gold["type"]
    names = tuple(name for name in evidence(heard) if name != UNANSWERED)
    filed = heard.label.memory_type.value
    if best >= 0.5:
        return Trial(names, True, 1.0 if best == 1.0 else _PARTIAL_WEIGHT, kind, filed)
    forbidden = any(
        all(needle.strip() in text for needle in entry.split(" + ")) for entry in item["must_not"]
    )
    return Trial(names, False, _FORBIDDEN_WEIGHT if forbidden else 1.0, "", filed)


def trials_of_clauses(*, path: Path) -> list[Trial]:
    """The clauses of a file of clauses, without what only a conversation shows."""
    found: list[Trial] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        mark, _, text = line.partition("|")
        item = {
            "started_at": "2026-04-15T10:00:00Z", "agent": "kyra", "user": "robin",
            "messages": [{"role": "user", "content": text}], "gold": [], "must_not": [],
        }  # fmt: skip
        for trial in trials_of(item=item):
            if "leftover" not in trial.evidence:
                shown = tuple(name for name in trial.evidence if not name.startswith(_OF_PLACE))
                kind = _MARKS[mark]
                found.append(
                    replace(trial, evidence=shown, kept=bool(kind), weight=1.0, memory_type=kind)
                )
    return found


def fit_admission(*, trials: Sequence[Trial]) -> dict[str, float]:
    """Log odds that each piece of evidence adds, by logistic regression with an L2 penalty."""
    names = _names(trials)
    x = _matrix(trials, names)
    y = np.array([float(trial.kept) for trial in trials])
    share = np.array([trial.weight for trial in trials])
    penalty = np.array([0.0 if name == "always" else PENALTY for name in names])
    weights = np.zeros(len(names))
    # Newton's method: with some hundred names a solve is cheap.
    for _ in range(20):
        odds = 1.0 / (1.0 + np.exp(-(x @ weights)))
        gradient = x.T @ (share * (odds - y)) + penalty * weights
        curve = (x * (share * odds * (1 - odds))[:, None]).T @ x + np.diag(penalty + 1e-3)
        step = np.linalg.solve(curve, gradient)
        weights -= step
        if np.abs(step).max() < 1e-4:
            break
    return {name: round(float(w), 2) for name, w in zip(names, weights, strict=True)}


def fit_filing(*, trials: Sequence[Trial]) -> TypeWeights:
    """What each piece of evidence adds to each type, by multinomial logistic regression."""
    kept = [trial for trial in trials if trial.kept]
    names = _names(kept)
    x = _matrix(kept, names)
    y = np.array([[trial.memory_type == kind.value for kind in TYPES] for trial in kept], float)
    weights = np.zeros((len(names), len(TYPES)))
    momentum = np.zeros_like(weights)
    step = 0.24 / max(1, len(kept))
    for _ in range(STEPS):
        scores = x @ weights
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        momentum = 0.9 * momentum + x.T @ (odds - y) + TYPE_PENALTY * weights
        weights -= step * momentum
    return {
        name: (round(float(w[0]), 2), round(float(w[1]), 2), round(float(w[2]), 2),
               round(float(w[3]), 2))
        for name, w in zip(names, weights, strict=True)
    }  # fmt: skip


def _names(trials: Sequence[Trial]) -> list[str]:
    counts = Counter(name for trial in trials for name in trial.evidence)
    return sorted(name for name, count in counts.items() if count >= RARE)


def _matrix(trials: Sequence[Trial], names: Sequence[str]) -> npt.NDArray[np.float64]:
    place = {name: index for index, name in enumerate(names)}
    x = np.zeros((len(trials), len(names)))
    for row, trial in enumerate(trials):
        for name in trial.evidence:
            if name in place:
                x[row, place[name]] = 1.0
    return x


def type_of(trial: Trial, weights: TypeWeights) -> str:
    """The type that the extractor gives a clause."""
    totals = [sum(weights[n][i] for n in trial.evidence if n in weights) for i in range(len(TYPES))]
    best = max(range(len(TYPES)), key=totals.__getitem__)
    filed = next(index for index, kind in enumerate(TYPES) if kind.value == trial.filed)
    return TYPES[best if totals[best] - totals[filed] >= MARGIN else filed].value


def report(*, trials: Sequence[Trial], weights: Mapping[str, float], types: TypeWeights) -> None:
    """Print recall and junk at several bars, and how many types are right."""
    scored = [(sum(weights.get(name, 0.0) for name in t.evidence), t) for t in trials]
    kept = [trial for trial in trials if trial.kept]
    for bar in _BARS:
        passed = [trial for score, trial in scored if score >= bar]
        right = sum(trial.kept for trial in passed)
        recall, junk = right / max(1, len(kept)), 1 - right / max(1, len(passed))
        print(f"bar {bar:4}: recall {recall:.3f}, junk share {junk:.3f} of {len(passed)}")
    for title, given in (
        ("patterns", [trial.filed for trial in kept]),
        ("weights", [type_of(trial, types) for trial in kept]),
    ):
        hits = sum(kind == trial.memory_type for kind, trial in zip(given, kept, strict=True))
        print(f"types right by the {title}: {hits / max(1, len(kept)):.3f}")


def write_weights(*, path: Path, about: str, head: str, weights: Mapping[str, object]) -> None:
    """Write a module of weights; what comes to nothing is left out."""
    nothing = (0.0, (0.0, 0.0, 0.0, 0.0))
    lines = [
        f'"""Data: {about}.',
        "",
        "Fitted by `python -m benchmarks.extraction_fit --data FILE ... --fit`, not by hand.",
        '"""',
        "",
        f"{head} = {{",
        *(f'    "{name}": {value},' for name, value in weights.items() if value not in nothing),
        "}",
        "",
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


def _read(paths: Sequence[Path]) -> list[Trial]:
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [trial for line in lines for trial in trials_of(item=json.loads(line))]


def main() -> None:
    """Fit, report and, with --fit, write."""
    parser = argparse.ArgumentParser(description="Fit the extractor's weights.")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="conversations")
    parser.add_argument("--clauses", type=Path, nargs="*", default=[], help="clauses, one a line")
    parser.add_argument("--test", type=Path, nargs="*", default=[], help="conversations to score")
    parser.add_argument("--fit", action="store_true", help="store the weights")
    options = parser.parse_args()
    trials = _read(options.data)
    trials += [trial for path in options.clauses for trial in trials_of_clauses(path=path)]
    weights, types = fit_admission(trials=trials), fit_filing(trials=trials)
    print(f"{len(trials)} clauses, {sum(trial.kept for trial in trials)} of them worth keeping")
    report(trials=_read(options.test) or trials, weights=weights, types=types)
    if options.fit:
        write_weights(
            path=Path(admission_weights.__file__),
            about="the log odds that each piece of evidence adds to a clause being kept",
            head="WEIGHTS: dict[str, float]",
            weights=weights,
        )
        write_weights(
            path=Path(filing_weights.__file__),
            about="what evidence adds to the types semantic, episodic, procedural, user profile",
            head="TYPE_WEIGHTS: dict[str, tuple[float, float, float, float]]",
            weights=types,
        )


if __name__ == "__main__":
    main()
