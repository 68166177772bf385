"""Chances that a memory is needed, by owned lines and by what was of use (seed 002)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from types import MappingProxyType

from memory.domain.types import Signals
from memory.satellites.plans.weights import OF_ALL_FILES, OF_ONE_FILE

HALF_LIFE_DAYS = 30.0
MOST_KEY_CHARS = 200
# How much one useful memory at the very same signal says: half of what is certain.
_ENOUGH = 1.0
_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+|'[^']*'|\"[^\"]*\"|`[^`]*`")
_CLASS = re.compile(r"^\s*([A-Za-z_][\w.]*)\s*:")
Weights = Sequence[float]
FITTED = (OF_ONE_FILE, OF_ALL_FILES)
"""The two models as they are committed."""
LATEST = 50
"""So many of the latest changes are candidates whatever they touched."""
LINES_NOT_TOLD = 10
"""Lines added that are assumed where nobody counted them."""
MOST_NEAR = 10
"""So many files that changed together with the open ones count as near."""
OF_LATEST_CHANGES = 50
"""So many of the latest changes of each open file tell which files change together with it."""
_IMPORTED = 0.1
IN_SAME_FOLDER, ELSEWHERE = 0.002, 0.0005
"""Chances of one of the latest 50 changes that touched no open file, as two histories have them."""
_LATELY = "among the latest changes"
_LEAST = 1e-9
_SURE = 0.9999


def keys_of(signals: Signals, *, collaborator: str = "") -> dict[str, float]:
    """Returns the keys that a use is counted under, with weights (0-1): the narrower, the greater.

    A file counts with its folder and its module's name, an error by its class and by the shape of
    its message (without numbers and quotations), a moment by the hour of the week.
    `collaborator` is the id of the person that the signals name.
    """
    keys: dict[str, float] = {}
    for path in signals.files:
        folder, _, name = path.rpartition("/")
        keys[f"file:{path}"] = 1.0
        keys[f"module:{name.partition('.')[0].lower()}"] = 0.4
        if folder:
            keys[f"folder:{folder}"] = 0.2
    if signals.branch:
        keys[f"branch:{signals.branch}"] = 1.0
    for error in signals.recent_errors:
        keys[f"error:{shape_of(error)}"] = 1.0
        if kind := _CLASS.match(error):
            keys[f"error class:{kind[1]}"] = 0.3
    if signals.time is not None:
        keys[f"hour:{signals.time:%w-%H}"] = 0.3
    if collaborator:
        keys[f"collaborator:{collaborator}"] = 0.5
    return {key[:MOST_KEY_CHARS]: weight for key, weight in keys.items()}


def shape_of(error: str) -> str:
    """The first line of an error without what varies from one time to the next."""
    return " ".join(_VARYING.sub("*", error.strip().partition("\n")[0]).split())


def decayed(weight: float, *, since: datetime, now: datetime) -> float:
    """Returns the remainder of a weight, which halves in 30 days."""
    days = max(0.0, (now - since).total_seconds() / 86_400)
    return weight * float(0.5 ** (days / HALF_LIFE_DAYS))


def confidence_of(weight: float) -> float:
    """The chance (0-1) that a use of that weight, added up over the signals, comes again."""
    return weight / (weight + _ENOUGH)


@dataclass(frozen=True, slots=True)
class Touch:
    """A file that a memory of `breadth` files names; lines are None where nobody counted them."""

    key: Hashable
    path: str
    added: int | None
    removed: int | None
    breadth: int


@dataclass(frozen=True, slots=True)
class Likely:
    """A memory, the chance (0-1) that it is needed, the file that speaks most for it, and why."""

    key: Hashable
    chance: float
    path: str
    why: str


def file_name(path: str) -> str:
    """Returns what a file keeps when it moves, as memory/sql/memory_forms.sql does."""
    return path.rpartition("/")[2].lower().lstrip("_")


def near_files(
    *,
    opened: Sequence[str],
    touches: Sequence[Touch],
    files: Mapping[Hashable, Sequence[str]],
    imported: Collection[str] = (),
) -> dict[str, float]:
    """Returns the files that may be opened next, each with a chance (0-1).

    They are those that the latest changes of the open files touched too, and those that the open
    file imports. `files` has the paths of each key of `latest_changes`.
    """
    names = {file_name(path) for path in opened}
    near = {path: _IMPORTED for path in sorted(imported) if file_name(path) not in names}
    near = dict(islice(near.items(), MOST_NEAR))
    together: dict[str, float] = {}
    for keys in latest_changes(opened=opened, touches=touches).values():
        paths = {file_name(path): path for key in keys for path in files.get(key, ())}
        counts = Counter(name for key in keys for name in {*map(file_name, files.get(key, ()))})
        for name, count in counts.items():
            if name not in names:
                path = paths[name]
                together[path] = max(together.get(path, 0.0), count / (len(keys) + 1))
    most = sorted(together, key=lambda path: -together[path])[:MOST_NEAR]
    return near | {path: max(together[path], near.get(path, 0.0)) for path in most}


def latest_changes(*, opened: Sequence[str], touches: Sequence[Touch]) -> dict[str, list[Hashable]]:
    """Returns the keys of the latest changes of each open file, oldest first, by its name."""
    keys: dict[str, dict[Hashable, None]] = {file_name(path): {} for path in opened}
    for each in touches:
        keys.get(file_name(each.path), {})[each.key] = None
    return {name: [*found][-OF_LATEST_CHANGES:] for name, found in keys.items()}


def likely_needed(
    *,
    opened: Sequence[str],
    touches: Sequence[Touch],
    near: Mapping[str, float] = MappingProxyType({}),
    touches_near: Sequence[Touch] = (),
    recent: Sequence[Touch] = (),
    models: tuple[Weights, Weights] = FITTED,
) -> list[Likely]:
    """The memories that the open files speak for, likeliest first, of equal ones the latest.

    `touches` are oldest first, and of every open file all that have its `file_name`; so are
    `touches_near` of the files that are near. After the memories of open files come those of near
    ones, then those of `recent`, oldest first too, those of the same folders before the others.
    """
    order = {each.key: place for place, each in enumerate(touches)}
    of_one, of_all = models
    found = [
        Likely(key, _chance(of_all, features), path, f"changed {path}")
        for key, (features, path) in features_of_all(
            opened=opened, touches=touches, of_one=of_one
        ).items()
    ]
    found.sort(key=lambda each: (-each.chance, -order[each.key]))
    found += _nearby(near, touches_near, known=order.keys(), found=found, of_one=of_one)
    return found + _lately(opened, recent, known={each.key for each in found}, found=found)


def _nearby(
    near: Mapping[str, float],
    touches: Sequence[Touch],
    *,
    known: Container[Hashable],
    found: list[Likely],
    of_one: Weights,
) -> list[Likely]:
    """Changes of near files that touched no open one, none likelier than what did."""
    by_name = _by_name(touches)
    others: dict[Hashable, tuple[float, float, str]] = {}
    for path, weight in near.items():
        in_file = features_of_one(path=path, touches=by_name.get(file_name(path), ()))
        for key, features in in_file.items():
            if key not in known:
                chance = weight * _chance(of_one, features)
                before, best, best_path = others.get(key, (0.0, 0.0, path))
                together = 1 - (1 - before) * (1 - chance)
                others[key] = (together, *max((best, best_path), (chance, path)))
    most = found[-1].chance if found else 1.0
    ranked = sorted(others.items(), key=lambda item: -item[1][0])
    return [
        Likely(key, min(most, chance), path, f"changed {path}, near the open files")
        for key, (chance, _, path) in ranked
    ]


def _lately(
    opened: Sequence[str],
    recent: Sequence[Touch],
    *,
    known: Container[Hashable],
    found: list[Likely],
) -> list[Likely]:
    """Recent changes that touched no open or near file, none likelier than what did."""
    folders = {path.rpartition("/")[0]: path for path in opened}
    others: dict[Hashable, str] = {}
    for each in reversed(recent):
        if each.key not in known:
            near = folders.get(each.path.rpartition("/")[0], "")
            others[each.key] = others.get(each.key) or near
    most = found[-1].chance if found else 1.0
    ranked = sorted(others.items(), key=lambda item: not item[1])
    return [
        Likely(key, min(most, IN_SAME_FOLDER if path else ELSEWHERE), path, _LATELY)
        for key, path in ranked
    ]


def _by_name(touches: Iterable[Touch]) -> dict[str, list[Touch]]:
    by_name: dict[str, list[Touch]] = {}
    for each in touches:
        by_name.setdefault(file_name(each.path), []).append(each)
    return by_name


def features_of_all(
    *, opened: Sequence[str], touches: Sequence[Touch], of_one: Weights
) -> dict[Hashable, tuple[tuple[float, ...], str]]:
    """Returns each memory's features for the second model, and the open file favouring it most."""
    by_name = _by_name(touches)
    found: dict[Hashable, list[tuple[float, int, tuple[float, ...]]]] = {}
    for place, path in enumerate(opened):
        in_file = features_of_one(path=path, touches=by_name.get(file_name(path), ()))
        for key, features in in_file.items():
            found.setdefault(key, []).append((_chance(of_one, features), place, features))
    return {
        key: (_combined(votes, len(opened)), opened[max(votes)[1]]) for key, votes in found.items()
    }


def features_of_one(*, path: str, touches: Iterable[Touch]) -> dict[Hashable, tuple[float, ...]]:
    """Returns the first model's features of each memory of a file and of its earlier paths."""
    changes = _changes(path, list(touches))
    left, total, removed = _surviving(changes)
    count = len(changes)
    replaced = removed / max(1, count - 1)
    found: dict[Hashable, tuple[float, ...]] = {}
    for place, (key, change) in enumerate(changes.items()):
        rank = count - 1 - place
        share = left[place] / max(total, 1.0)
        found[key] = (
            math.log1p(left[place]),
            share,
            math.log1p(change.added),
            math.log1p(rank),
            1 / (1 + rank),
            float(rank == 0),
            float(place == 0),
            math.log(change.breadth),
            math.log(count),
            float(change.added == 0),
            float(change.same_path),
            math.log1p(total),
            math.log1p(replaced),
            math.log(1e-3 + 1 - (1 - min(0.99, share)) ** max(replaced, 0.3)),
        )
    return found


@dataclass(slots=True)
class _Change:
    breadth: int
    added: int = 0
    removed: int = 0
    same_path: bool = False


def _changes(path: str, touches: list[Touch]) -> Mapping[Hashable, _Change]:
    order = {each.key: place for place, each in enumerate(touches)}
    ends = {each.path: order[each.key] for each in touches}
    start = next((order[each.key] for each in touches if each.path == path), len(touches))
    changes: dict[Hashable, _Change] = {}
    for each in touches:
        if each.path != path and ends[each.path] > start:
            continue
        change = changes.setdefault(each.key, _Change(max(1, each.breadth)))
        change.added += LINES_NOT_TOLD if each.added is None else each.added
        change.removed += each.removed or 0
        change.same_path |= each.path == path
    return changes


def _surviving(changes: Mapping[Hashable, _Change]) -> tuple[list[float], float, int]:
    """The lines of each change that are likely left, all lines that are left, and all removed."""
    kept: list[float] = []
    total, removed, log_left = 0.0, 0, 0.0
    for change in changes.values():
        if change.removed and total > 0:
            left = 1 - change.removed / max(total, change.removed + 1)
            total *= left
            log_left += math.log(left)
        kept.append(log_left)
        total += change.added
        removed += change.removed
    lines = [
        change.added * math.exp(log_left - then)
        for change, then in zip(changes.values(), kept, strict=True)
    ]
    return lines, total, removed


def _combined(votes: list[tuple[float, int, tuple[float, ...]]], files: int) -> tuple[float, ...]:
    chances = [chance for chance, _, _ in votes]
    together = -sum(math.log(1 - min(chance, _SURE)) for chance in chances)
    most = max(chances)
    breadth = votes[0][2][7]
    return (
        math.log(together + _LEAST),
        math.log(most + _LEAST),
        math.log(len(votes)),
        math.log1p(sum(math.expm1(features[0]) for _, _, features in votes)),
        sum(features[1] for _, _, features in votes),
        breadth,
        math.log1p(min(place for _, place, _ in votes)),
        math.log(files),
        math.log(files) * math.log(len(votes)),
        len(votes) / files,
        len(votes) / math.exp(breadth),
        math.log(files) * math.log(most + _LEAST),
    )


def _chance(weights: Weights, features: Sequence[float]) -> float:
    """The logistic model: the first weight stands for itself, each other for a feature."""
    total = weights[0] + sum(map(float.__mul__, weights[1:], features))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
