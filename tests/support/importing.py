"""Transcripts as tests import them: Kyra's talk with Sarah, unless said otherwise."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from memory.satellites.transfer.transcripts import (
    ImportSummary,
    ImportTarget,
    Transcript,
    import_transcripts,
    read_transcripts,
)
from memory.understanding.tools import Tools
from tests.support.cast import Cast

SESSIONS = {
    "speaker_a": "Nils",
    "speaker_b": "Mara",
    "session_1_date_time": "4:05 pm on 1 March, 2024",
    "session_1": [
        {"speaker": "Nils", "dia_id": "D1:1", "text": "I bought a small boat."},
        {"speaker": "Mara", "dia_id": "D1:2", "text": "What a lovely colour it has."},
    ],
    "session_2_date_time": "10:30 am on 3 April, 2024",
    "session_2": [{"speaker": "Mara", "dia_id": "D2:1", "text": "The mast is up."}],
}


def transcripts(data: object, *, stem: str = "boat") -> tuple[Transcript, ...]:
    now = timezone.now()
    return read_transcripts(data=data, stem=stem, max_chars=1000, now=now)


def run(acme: Cast, tools: Tools, data: object, **options: Any) -> ImportSummary:
    # Any: options of `import_transcripts` by name
    target = ImportTarget(team_id=acme.team.id, agent="kyra", user=options.pop("user", "sarah"))
    given: dict[str, Any] = {"extract": True, "stem": "boat"}
    given.update(options)
    return import_transcripts(
        target=target,
        transcripts=transcripts(data, stem=given.pop("stem")),
        tools=tools,
        actor="test",
        now=timezone.now(),
        **given,
    )
