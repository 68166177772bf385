"""How well conflicts are told by the whole write path, with its choice of pairs and its bars.

``python -m benchmarks.contradictions_stored --data FILE ...`` beside a running, migrated database.
The existing statements of a file are written into one throwaway team, then its new ones, so that
each is compared with all others too. Prints recall and precision of conflict and the four-way
accuracy on the labelled pairs, and how many memories came into conflict with another one than
their partner.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.db.models import Q  # noqa: E402

from benchmarks.contradictions import Pair, read_pairs, score  # noqa: E402
from benchmarks.ingest_ground import ACTOR, new_ground  # noqa: E402
from memory.clients.tools import default_tools  # noqa: E402
from memory.domain.types import MemoryType, Statement, Verdict  # noqa: E402
from memory.domain.viewer import Viewer  # noqa: E402
from memory.models import Contradiction  # noqa: E402
from memory.services.write.drafts import MemoryDraft, Outcome, WriteResult  # noqa: E402
from memory.services.write.write_path import write_memories  # noqa: E402
from teams.tenancy import team_scope  # noqa: E402

CONFLICTS = (Verdict.SUPERSEDE.value, Verdict.DISPUTE.value)


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
    viewer = new_ground().viewer
    old = [store(viewer, pair.existing).memory.pk for pair in pairs]
    verdicts: list[Verdict] = []
    elsewhere = 0
    for pair, partner in zip(pairs, old, strict=True):
        result = store(viewer, pair.new)
        if result.outcome is Outcome.DUPLICATE:
            is_partner = result.memory.pk == partner
            verdicts.append(Verdict.DUPLICATE if is_partner else Verdict.COEXIST)
            continue
        with team_scope(team_ids=[viewer.team_id], actor=ACTOR):
            rows = Contradiction.objects.filter(verdict__in=CONFLICTS).filter(
                Q(memory_a=result.memory) | Q(memory_b=result.memory)
            )
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
