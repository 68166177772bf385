"""The report's own readers and rankings; the measured figures are no test."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.locomo import Question, Sample
from benchmarks.report import CONTENDERS, FULL, Ranking, grep, measure, read_longmemeval


def haystack(path: Path) -> list[Sample]:
    """A file of two questions about the same two sessions, and one without evidence."""
    sessions = [
        [
            {"role": "user", "content": "My cat is called Miso.", "has_answer": True},
            {"role": "assistant", "content": "What a lovely name."},
        ],
        [{"role": "user", "content": "The train to Ghent leaves at eight.", "has_answer": False}],
    ]
    item = {
        "haystack_session_ids": ["cats", "trains"],
        "haystack_dates": ["2026/03/02 (Mon) 07:40", "2026/03/03 (Tue) 07:40"],
        "haystack_sessions": sessions,
    }
    unlabelled = [[{"role": "user", "content": "Nothing."}], sessions[1]]
    items = [
        item | {"question_id": "1", "question": "What is the cat called?"},
        item | {"question_id": "2", "question": "Which pet is Miso?"},
        item | {"question_id": "3_abs", "question": "Who?", "haystack_sessions": unlabelled},
    ]
    path.write_text(json.dumps(items))
    return read_longmemeval(path, limit=None)


def test_questions_of_one_haystack_are_one_sample(tmp_path: Path) -> None:
    (sample,) = haystack(tmp_path / "set.json")

    assert [each.thread_id for each in sample.transcripts] == ["cats", "trains"]
    assert sample.questions == (
        Question("What is the cat called?", 1, frozenset({"cats:0"})),
        Question("Which pet is Miso?", 1, frozenset({"cats:0"})),
    )


def test_recall_counts_messages_and_their_sessions(tmp_path: Path) -> None:
    samples = haystack(tmp_path / "set.json")

    found = measure(Ranking("grep", grep), samples)

    assert (found.by_message.at(5), found.by_session.at(5)) == (100.0, 100.0)
    assert found.messages == 3
    assert found.shares == [1.0, 1.0]


def test_the_full_context_holds_everything(tmp_path: Path) -> None:
    (full,) = (each for each in CONTENDERS if each.name == FULL)

    found = measure(full, haystack(tmp_path / "set.json"))

    assert found.shares == [1.0, 1.0]
    assert len(set(found.tokens)) == 1
