"""Fits the model-free extractor's weights on labelled conversations.

Run as ``python -m benchmarks.extraction_fit [--ablate] [--write]``. It prints what ten-fold
cross-validation grouped by conversation finds, ``--ablate`` what each module of evidence is worth,
and ``--write`` writes the weights, which come out the same bit for bit. Files that are named
``blind`` are never read.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.extraction import Score, read_conversation, score_conversation, well_worded
from memory.fallback.extraction.drafts import Draft, drafts_of
from memory.fallback.extraction.evidence import MODULES
from memory.fallback.extraction.model import TYPES, WEIGHTS, data_of, model_of
from memory.fallback.extraction.statements import Turn
from memory.fallback.extractor import RulesExtractor

LABELLED = Path(__file__).parent / "labelled" / "extraction"
# Talk whose authors did not know the extractor: the figures to go by.
UNBIASED = frozenset(["train", "work", "home", "trades_and_homes"])
FOLDS = 10
REGULARISATION_KEEP, REGULARISATION_TYPE = 0.1, 0.03
# Single words say much of what is worth keeping and nothing of its type; what the ordered tests
# say of the type is trusted before the rest.
SCALE_OF_WORDS, SCALE_OF_TESTS = 0.0, 3.0
# A plain fact of oneself is kept even where the rest of the talk around it speaks against it.
PROFILE, SCALE_OF_PROFILE = frozenset(["profile", "own profile", "own profile stated"]), 4.0
RAREST_FEATURE = 4
FORBIDDEN_WEIGHT = 2.0
PARTLY_RIGHT, PARTLY_RIGHT_WEIGHT = 0.5, 0.5
BAR, BAR_PINNED = 0.15, -2.0


@dataclass(frozen=True, slots=True)
class Read:
    """A labelled conversation with its drafts and what each of them is worth by the labels."""

    item: dict[str, Any]  # Any: parsed JSON
    turns: list[Turn]
    drafts: list[Draft]
    labels: list[tuple[bool, float, str]]


def labelled_files() -> list[Path]:
    """The files that weights may be fitted on."""
    return sorted(path for path in LABELLED.glob("*.jsonl") if not path.name.startswith("blind"))


def read_files(paths: Sequence[Path], *, without: str = "") -> list[Read]:
    """All conversations of the files as drafts with labels."""
    found = []
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            item = json.loads(line) | {"file": path.stem}
            messages, participants = read_conversation(item=item)
            turns, drafts = drafts_of(
                messages=messages, context=[], participants=participants, without=without
            )
            found.append(Read(item, turns, drafts, [_label(item, each) for each in drafts]))
    return found


def _label(item: dict[str, Any], draft: Draft) -> tuple[bool, float, str]:
    """Whether a draft is worth keeping, the weight of that, and its type ("" where unknown)."""
    text = draft.text.lower()
    share, kind = 0.0, ""
    for gold in item["gold"]:
        if not set(draft.sources) & set(gold["messages"]):
            continue
        found = sum(word in text for word in gold["must_contain"]) / len(gold["must_contain"])
        if found > share:
            share, kind = found, gold["type"]
    forbidden = any(
        all(word.strip().lower() in text for word in entry.split(" + "))
        for entry in item["must_not"]
    )
    if share < 1 and forbidden:
        return False, FORBIDDEN_WEIGHT, ""
    if share < PARTLY_RIGHT:
        return False, 1.0, ""
    return True, 1.0 if share == 1 else PARTLY_RIGHT_WEIGHT, kind


def fit(read: Sequence[Read]) -> dict[str, Any]:
    """The weights file that the conversations give."""
    drafts = [draft for each in read for draft in each.drafts]
    labels = [label for each in read for label in each.labels]
    counts = Counter(name for draft in drafts for name in draft.evidence)
    names = sorted(name for name, count in counts.items() if count >= RAREST_FEATURE)
    matrix = _matrix(drafts, names)
    keep = np.array([label[0] for label in labels])
    weight = np.array([label[1] for label in labels])
    kinds = np.array([label[2] for label in labels])
    trust = np.array([SCALE_OF_PROFILE if name in PROFILE else 1.0 for name in [*names, ""]])
    kept = _logistic(REGULARISATION_KEEP).fit(matrix * trust, keep, sample_weight=weight)
    on = kinds != ""
    scale = np.array([_scale_for_type(name) for name in names] + [1.0])
    typed = _logistic(REGULARISATION_TYPE).fit(
        matrix[on] * scale, kinds[on], sample_weight=weight[on]
    )
    order = [list(typed.classes_).index(kind.value) for kind in TYPES]
    columns = np.vstack([kept.coef_ * trust, typed.coef_[order] * scale])
    return data_of(names, columns.T.tolist(), bar=BAR, bar_pinned=BAR_PINNED)


def _scale_for_type(name: str) -> float:
    """A feature's size in the fit of types: the larger, the less its weight is held back."""
    if name.startswith("word "):
        return SCALE_OF_WORDS
    return SCALE_OF_TESTS if name.startswith("type ") else 1.0


def _logistic(regularisation: float) -> LogisticRegression:
    return LogisticRegression(C=regularisation, fit_intercept=False, max_iter=5000, tol=1e-8)


def _matrix(drafts: Sequence[Draft], names: Sequence[str]) -> NDArray[np.float64]:
    """A row a draft, a column a feature, the last one constant."""
    places = {name: place for place, name in enumerate(names)}
    matrix = np.zeros((len(drafts), len(names) + 1))
    matrix[:, -1] = 1
    for row, draft in enumerate(drafts):
        matrix[row, [places[name] for name in draft.evidence if name in places]] = 1
    return matrix


def cross_validate(
    read: Sequence[Read], *, bars: Sequence[float] = (BAR,), seed: int = 0
) -> dict[tuple[str, float], Score]:
    """Scores by file and bar, each conversation by a model that has not seen it."""
    order = np.random.default_rng(seed).permutation(len(read))
    scores: dict[tuple[str, float], Score] = {}
    for fold in range(FOLDS):
        test = set(order[fold::FOLDS].tolist())
        model = model_of(fit([each for number, each in enumerate(read) if number not in test]))
        for bar in bars:
            extractor = RulesExtractor(model=replace(model, bar=bar))
            for number in sorted(test):
                each = read[number]
                produced = extractor.admitted(each.turns, each.drafts)
                produced = well_worded(produced, [turn.message for turn in each.turns])
                keys = [each.item["file"], "all"]
                if each.item["file"] in UNBIASED:
                    keys.append("unbiased")
                for key in keys:
                    score = scores.setdefault((key, bar), Score())
                    score_conversation(score=score, item=each.item, produced=produced)
    return scores


def main() -> None:
    """Print the cross-validated figures; with --write write the weights."""
    parser = argparse.ArgumentParser(description="Fit the extractor.")
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--bars", type=float, nargs="*", default=[BAR])
    parser.add_argument("--notes", default="", help="print what went wrong in this file")
    options = parser.parse_args()
    read = read_files(labelled_files())
    print(f"{len(read)} conversations, {sum(len(each.drafts) for each in read)} drafts")
    scores = cross_validate(read, bars=options.bars)
    for (name, bar), score in sorted(scores.items()):
        print(score.line(f"{name} {bar:+.1f}"))
    if options.notes:
        print("\n".join(scores[options.notes, options.bars[0]].notes))
    if options.ablate:
        for module in MODULES:
            left = read_files(labelled_files(), without=module)
            found = cross_validate(left)
            print(found["unbiased", BAR].line(f"without {module}"))
    if options.write:
        text = json.dumps(fit(read), indent=0, ensure_ascii=False)
        WEIGHTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
