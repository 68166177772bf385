"""How many duplicates a consolidation removes, of labelled pairs and of paraphrases."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

from django.utils import timezone

from benchmarks.ground import new_team, scope_of
from memory.domain.viewer import Viewer
from memory.satellites.lifecycle.models import ConsolidationChange
from memory.satellites.lifecycle.running import run_consolidation
from memory.satellites.lifecycle.runs import start_run
from memory.satellites.lifecycle.steps import Kind, Step
from memory.services.write.explicit import StatedMemory, remember
from memory.understanding.tools import Tools
from teams.models import Team

# Of the memories to which paraphrases are added.
MOST = 300
# Whose memories they are: what a whole team prefers needs a yes.
USER = "somebody"
_SHORT_FORMS: Final = {
    " is not ": " isn't ",
    " are not ": " aren't ",
    " was not ": " wasn't ",
    " do not ": " don't ",
    " does not ": " doesn't ",
    " did not ": " didn't ",
    " has not ": " hasn't ",
    " will not ": " won't ",
    " cannot ": " can't ",
    " it is ": " it's ",
}
_DETERMINER: Final = re.compile(r"(?<=[a-z] )(?:a|an|the|his|her|their) (?=[a-z])")
_FIRST_CLAUSE: Final = re.compile(
    r"^((?:On|In|At|After|Before|During|When|While|Since|If) [^,.;]+), ([^;]+)\.$"
)
_LAST_CLAUSE: Final = re.compile(
    r"^([^,;]+) ((?:on|in|at|after|before|during|when|while|since) [^,.;]+)\.$"
)


def paraphrases(text: str) -> Iterator[tuple[str, str]]:
    """The text in other words that say the same, each with the kind of change."""
    yield "frame", f"It is known that {text}"
    if (without := _DETERMINER.sub("", text)) != text:
        yield "determiners", without
    for long, short in _SHORT_FORMS.items():
        other = text.replace(long, short) if long in text else text.replace(short, long)
        if other != text:
            yield "short forms", other
            break
    if moved := _FIRST_CLAUSE.match(text):
        clause, rest = moved.groups()
        yield "order of clauses", f"{rest[0].upper()}{rest[1:]} {clause[0].lower()}{clause[1:]}."
    elif moved := _LAST_CLAUSE.match(text):
        rest, clause = moved.groups()
        yield "order of clauses", f"{clause[0].upper()}{clause[1:]}, {rest}."


def print_duplicates(*, texts: Sequence[str], path: Path, tools: Tools) -> None:
    """Print what a run merges of labelled pairs and of paraphrased texts."""
    labels: Counter[str] = Counter()
    merged: Counter[str] = Counter()
    viewer, ids = _team(), {}
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        pair = [_stored(viewer, row, side, tools) for side in ("existing", "new")]
        labels[row["label"]] += 1
        ids[frozenset(pair)] = row["label"]
    others = _merged(viewer, ids, merged, tools)
    print("labelled pairs, merged: " + _told(labels, merged) + f"; of two pairs {others}")
    labels, merged, viewer, ids = Counter(), Counter(), _team(), {}
    for number, text in enumerate(texts[:MOST]):
        kinds = list(paraphrases(text))
        # Each memory has one paraphrase, of the kinds in turn.
        kind, other = kinds[number % len(kinds)]
        first, second = (
            _remember(viewer, StatedMemory(each, user=USER, check=False), tools)
            for each in (text, other)
        )
        if first != second:
            labels[kind] += 1
            ids[frozenset((first, second))] = kind
    others = _merged(viewer, ids, merged, tools)
    print("paraphrases, merged: " + _told(labels, merged) + f"; of others {others}")


def _told(labels: Mapping[str, int], merged: Mapping[str, int]) -> str:
    return ", ".join(f"{label} {merged[label]} of {count}" for label, count in labels.items())


def _team() -> Viewer:
    """A new team whose run may judge all pairs at once."""
    viewer = new_team("duplicates")
    with scope_of(viewer):
        chosen = {"pairs_per_person": 10_000}
        Team.objects.filter(pk=viewer.team_id).update(lifecycle_settings=chosen)
    return viewer


def _stored(viewer: Viewer, row: Mapping[str, str], side: str, tools: Tools) -> UUID:
    stated = StatedMemory(
        row[side],
        user=USER,
        subject=row.get(f"{side}_subject") or "",
        created_at=datetime.fromisoformat(row[f"{side}_at"]),
        check=False,
    )
    return _remember(viewer, stated, tools)


def _remember(viewer: Viewer, stated: StatedMemory, tools: Tools) -> UUID:
    (result,) = remember(viewer=viewer, stated=[stated], tools=tools, now=timezone.now())
    return result.memory.pk


def _merged(
    viewer: Viewer, ids: Mapping[frozenset[UUID], str], merged: Counter[str], tools: Tools
) -> int:
    """Count the merged pairs by their label; returns how many others were."""
    now = timezone.now() + timedelta(hours=1)
    run = start_run(viewer=viewer, now=now, steps=[Step.DEDUPLICATE])
    run_consolidation(team_id=viewer.team_id, run_id=run.pk, tools=tools)
    with scope_of(viewer):
        rows = ConsolidationChange.objects.filter(
            team_id=viewer.team_id, run=run, kind=Kind.MERGE, state="made"
        )
        pairs = [frozenset(each) for each in rows.values_list("memory_id", "other_id")]
    merged.update(ids[each] for each in pairs if each in ids)
    return sum(each not in ids for each in pairs)
