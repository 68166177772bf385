"""How well conflicts are told by the whole write path, with its choice of pairs and its bars.

``python -m benchmarks.contradictions_stored --data FILE ...`` beside a running, migrated database.
The existing statements of a file are written into one throwaway team, then its new ones, so that
each is compared with all others too. Prints recall and precision of conflict and the four-way
accuracy on the labelled pairs, and how many memories came into conflict with another one than
their partner.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from django.db.models import Q

from benchmarks.contradictions import CONFLICTS, Pair, read_pairs, score
from benchmarks.ground import new_team, scope_of
from memory.clients.tools import default_tools
from memory.domain.types import MemoryType, Statement, Verdict
from memory.domain.viewer import Viewer
from memory.models import Contradiction
from memory.services.write.drafts import MemoryDraft, Outcome, WriteResult
from memory.services.write.write_path import write_memories


def store(viewer: Viewer, statement: Statement) -> WriteResult:
    """Write one statement as somebody states it."""
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


def report(*, title: str, pairs: Sequence[Pair]) -> None:
    """Write the pairs of one file and print the figures."""
    viewer = new_team("contradictions")
    old = [store(viewer, pair.existing).memory.pk for pair in pairs]
    verdicts: list[Verdict] = []
    elsewhere = 0
    for pair, partner in zip(pairs, old, strict=True):
        result = store(viewer, pair.new)
        if result.outcome is Outcome.DUPLICATE:
            is_partner = result.memory.pk == partner
            verdicts.append(Verdict.DUPLICATE if is_partner else Verdict.COEXIST)
            continue
        with scope_of(viewer):
            rows = Contradiction.objects.filter(
                verdict__in=[each.value for each in CONFLICTS]
            ).filter(Q(memory_a=result.memory) | Q(memory_b=result.memory))
            found = {pk: row.verdict for row in rows for pk in (row.memory_a_id, row.memory_b_id)}
        verdicts.append(Verdict(found.pop(partner)) if partner in found else Verdict.COEXIST)
        elsewhere += bool(found.keys() - {result.memory.pk})
    print(title, score(labels=[pair.label for pair in pairs], verdicts=verdicts))
    print(f"  {elsewhere} of {len(pairs)} came into conflict with another than their partner")


def main() -> None:
    """Read the command line and print the figures of each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="JSON lines of pairs")
    options = parser.parse_args()
    for path in options.data:
        report(title=path.name, pairs=read_pairs(path=path))


if __name__ == "__main__":
    main()
