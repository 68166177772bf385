"""Replays histories of repositories: does prediction find the commits that the next one needs?

`python -m benchmarks.prediction --history FILE [--history FILE ...]`

Every commit becomes known at its time. Before a commit that needs earlier ones, its files are
opened one by one, the most changed first; nothing else of it is told. Printed is the share of all
needed commits among the first 20 and 50, after the first file and after all, by the product's own
scorer and by two baselines. Nothing that an earlier commit needed is told either: no feedback.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.prediction_data import LIMITS, Event, read_history, shares
from memory.satellites.plans.prediction.ownership import FITTED, Weights, likely_needed


def by_latest(event: Event, _opened: Sequence[str]) -> list[str]:
    """The latest commits of all."""
    return [each.sha for each in reversed(event.before[-LIMITS[-1] :])]


def by_latest_of_files(event: Event, opened: Sequence[str]) -> list[str]:
    """The latest commits that touched one of the open files."""
    touched = [str(each.key) for each in reversed(event.touches) if each.path in opened]
    return list(dict.fromkeys(touched))


def by_ownership(
    event: Event, opened: Sequence[str], models: tuple[Weights, Weights] = FITTED
) -> list[str]:
    """The product's scorer."""
    found = likely_needed(opened=opened, touches=event.touches, recent=event.recent, models=models)
    return [str(each.key) for each in found]


def told(found: Sequence[float]) -> str:
    """The four shares for reading."""
    first, first_50, last, last_50 = (f"{each:.3f}" for each in found)
    return f"first file {first} at 20, {first_50} at 50; all files {last} at 20, {last_50} at 50"


def main() -> None:
    """Prints a table for each history; see the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--history", action="append", type=Path, required=True)
    for file in parser.parse_args().history:
        history = read_history(file)
        print(f"{file.stem}: {len(history)} commits")
        for name, rank in (
            ("latest", by_latest),
            ("latest of files", by_latest_of_files),
            ("prediction", by_ownership),
        ):
            began = time.perf_counter()
            found = shares(history, rank)
            print(f"  {name:16}{told(found)}  ({time.perf_counter() - began:.1f} s)")


if __name__ == "__main__":
    main()
