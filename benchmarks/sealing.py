"""How fast is the log sealed and verified, and how long does an erasure take?

Run as ``python -m benchmarks.sealing`` beside a running, migrated database, with the settings that
manage.py uses. Fills a throwaway team with 10,000 and 100,000 (``--full``: 1,000,000) log rows of a
tenth as many memories of 50 people, then prints the rows sealed a second, the rows verified a
second, the same after one person was erased, and the time of that erasure. Rows stay, for nothing
is ever removed: use a database of its own.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.utils import timezone  # noqa: E402

from audit.services.erasure import erase_user  # noqa: E402
from audit.services.seals import closed_up_to, seal_team  # noqa: E402
from audit.services.verification import verify_team  # noqa: E402
from benchmarks.log_ground import SIZES, Ground, fill, new_ground  # noqa: E402
from teams.models import EndUser  # noqa: E402
from teams.tenancy import team_scope  # noqa: E402

ACTOR = "benchmark:sealing"


def timed(act: Callable[[], int]) -> tuple[int, float]:
    """What it answers, and how many seconds it took."""
    began = time.perf_counter()
    return act(), time.perf_counter() - began


def report(ground: Ground) -> None:
    """Seal the team's log and verify it; print how fast."""
    team_id = ground.viewer.team_id

    def seal() -> int:
        last_seq = closed_up_to(seconds=60)
        if last_seq is None:
            raise SystemExit("Something else is writing for long; use a database of its own.")
        return seal_team(team_id=team_id, last_seq=last_seq, now=timezone.now())

    rows, seconds = timed(seal)
    if rows:
        print(f"  {rows:,} rows sealed: {rows / seconds:,.0f} rows/s")
    rows, seconds = timed(lambda: verify(ground))
    print(f"  {rows:,} rows verified: {rows / seconds:,.0f} rows/s ({seconds:.1f} s)")


def verify(ground: Ground) -> int:
    """Verify the team's log; how many rows it has."""
    found = verify_team(team_id=ground.viewer.team_id)
    if found.findings:
        raise SystemExit(f"Not as it was sealed: {found.findings[0]}")
    return found.rows + found.unsealed


def erase(ground: Ground) -> None:
    """Erase one person of the team and verify again; print how fast."""
    team_id = ground.viewer.team_id
    with team_scope(team_ids=[team_id], actor=ACTOR):
        person = EndUser.objects.filter(team_id=team_id).order_by("id")[0]
    gone, seconds = timed(
        lambda: erase_user(team_id=team_id, external_id=person.external_id, actor=ACTOR).log_entries
    )
    print(f"  {gone:,} rows of a person erased: {seconds * 1000:,.0f} ms")
    rows, seconds = timed(lambda: verify(ground))
    print(f"  {rows:,} rows verified after that: {rows / seconds:,.0f} rows/s")


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="1,000,000 rows as well")
    given = parser.parse_args()
    for size in SIZES if given.full else SIZES[:-1]:
        ground = new_ground()
        fill(ground, size)
        print(f"{size:,} log rows of {len(ground.ids):,} memories")
        report(ground)
        erase(ground)


if __name__ == "__main__":
    main()
