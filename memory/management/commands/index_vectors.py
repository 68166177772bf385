"""`manage.py index_vectors`: large teams' vectors into the approximate index, now."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand
from tqdm import tqdm  # type: ignore[import-untyped]

from memory.writing.indexing.vector_graphs import (
    extend_vector_graphs,
    renew_statistics,
    waiting_vectors,
)


class Command(BaseCommand):
    """Do at once what a periodic task does little by little, as after a large import."""

    help = (
        "Move the vectors of large teams into the approximate index. A worker does so by itself;"
        " run this after a large import to have it done at once. It may be stopped at any time."
    )

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django's own signature
        with tqdm(total=waiting_vectors(), unit="vector", file=sys.stderr) as bar:
            moved = extend_vector_graphs(fresh=0, on_progress=bar.update)
        renew_statistics()
        self.stdout.write(f"{moved} vectors indexed.")
