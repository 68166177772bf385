"""How long a thread's state takes to save and load, over the API of this process.

    .venv/bin/python -m benchmarks.checkpoints [--kilobytes 50] [--rounds 400]

Uses the database of the settings, in a team of its own; prints p50 and p95 in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Callable
from uuid import uuid4

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django

django.setup()

from django.conf import settings  # noqa: E402
from rest_framework.test import APIClient  # noqa: E402

from teams.services.keys import issue_key  # noqa: E402
from teams.services.people import create_team  # noqa: E402
from teams.tenancy import team_scope  # noqa: E402


def state_of(size: int, seed: int) -> dict[str, object]:
    """A state of about `size` bytes of JSON, as a graph of agents keeps it."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(2_000)]
    messages: list[dict[str, object]] = []
    total = 0
    while total < size:
        message: dict[str, object] = {
            "role": chance.choice(["user", "assistant"]),
            "content": " ".join(chance.choices(words, k=30)),
            "score": chance.random(),
        }
        total += len(json.dumps(message))
        messages.append(message)
    return {"graph": {"node": "plan", "step": seed}, "messages": messages}


def timed(act: Callable[[int], None], rounds: int) -> list[float]:
    """Milliseconds of each round, after a tenth that is not counted."""
    taken = []
    for number in range(rounds + rounds // 10):
        started = time.perf_counter()
        act(number)
        taken.append((time.perf_counter() - started) * 1000)
    return taken[rounds // 10 :]


def report(*, kilobytes: int, rounds: int) -> None:
    """Save and load in a team of its own, and print how long it took."""
    settings.ALLOWED_HOSTS = ["testserver"]
    team = create_team(slug=f"checkpoints-{uuid4().hex[:8]}", name="Checkpoints", actor="benchmark")
    with team_scope(team_ids=[team.id], actor="benchmark"):
        token = issue_key(team_id=team.id, agent=None).token
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    bodies = [
        json.dumps({"user": "sarah", "data": state_of(kilobytes * 1000, seed)})
        for seed in range(20)
    ]

    def save(number: int) -> None:
        url = f"/v1/threads/t{number % 10}/checkpoint"
        answer = client.put(url, bodies[number % 20], content_type="application/json")
        assert answer.status_code in (200, 201), answer.content

    def load(number: int) -> None:
        answer = client.get(f"/v1/threads/t{number % 10}/checkpoint?user=sarah")
        assert answer.status_code == 200, answer.content

    for name, act in (("save", save), ("load", load)):
        taken = timed(act, rounds)
        p95 = statistics.quantiles(taken, n=20)[-1]
        print(f"{name} {kilobytes} KB: p50 {statistics.median(taken):.2f} ms, p95 {p95:.2f} ms")


def main() -> None:
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kilobytes", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=400)
    given = parser.parse_args()
    report(kilobytes=given.kilobytes, rounds=given.rounds)


if __name__ == "__main__":
    main()
