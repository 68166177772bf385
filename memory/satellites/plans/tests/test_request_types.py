"""The kind of help that a request asks for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings

from memory.satellites.plans.choosing import (
    RequestType,
    _label,
    _trained,
    asks_for_all,
    asks_nothing,
    kind_of_request,
)
from teams.domain.team_settings import RequestCategories

REQUESTS = {
    "coding": [
        "Add a retry decorator to the HTTP client.",
        "How do I write a generic repository in TypeScript?",
        "def total(xs): return sum(x.price for x in xs) - add tax",
        "What coding conventions do we follow?",
        "Write an endpoint that returns the open invoices.",
        "Please refactor the parser into two modules.",
    ],
    "output_format": [
        "Can you put that into a table?",
        "Reply in plain text please, no lists.",
        "Please keep the answer brief and formal.",
        "Convert the list to Markdown headings.",
    ],
    "planning": [
        "Set up a timeline for hiring.",
        "Let's plan the offsite.",
        "What do we need to do before the launch on March 18?",
        "Which milestones are due next quarter?",
    ],
    "personal": [
        "Where do I live?",
        "Do you remember my favourite colour?",
        "What did I tell you about my sister?",
        "What do you know about me?",
    ],
    "troubleshooting": [
        "The payment webhook returns 500 since this morning.",
        "Our tests are flaky on CI.",
        "Deploy failed again, what is wrong?",
        "The worker crashes with an out of memory error.",
    ],
    "general": [
        "Who was the first president of the United States?",
        "Hi there!",
        "Was weißt du über den Mond?",
        "ok thanks",
        "Почему небо голубое?",
    ],
}


@pytest.mark.parametrize(
    ("request_text", "kind"),
    [(text, kind) for kind, texts in REQUESTS.items() for text in texts],
)
def test_the_kind_is_known_by_words_and_examples(request_text: str, kind: str) -> None:
    assert kind_of_request(request_text) == kind


def test_the_settings_of_a_team_know_the_same_kinds() -> None:
    assert [each.value for each in RequestType] == list(RequestCategories.model_fields)


@pytest.mark.parametrize("name", ["blind", "blind2", "blind3"])
def test_at_least_85_of_100_unseen_requests_have_their_type(name: str) -> None:
    path = Path(settings.BASE_DIR) / "benchmarks" / "labelled" / "requests" / f"{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    right = sum(kind_of_request(row["text"]) == row["type"] for row in rows)

    assert right / len(rows) >= 0.85


@pytest.mark.parametrize("text", ["Describe me.", "Which facts do you keep about me?"])
def test_a_request_for_all_that_is_known_is_told_from_others(text: str) -> None:
    assert asks_for_all(text)
    assert kind_of_request(text) == "personal"
    assert not asks_for_all("What is my sister called?")


def test_requests_that_ask_nothing_of_memory_are_told_from_questions_about_people() -> None:
    folder = Path(settings.BASE_DIR) / "benchmarks" / "labelled"
    texts = (folder / "requests" / "nothing.jsonl").read_text(encoding="utf-8").splitlines()
    nothing = [row["text"] for row in map(json.loads, texts) if row["part"] == "test"]
    talks = (folder / "questions" / "blind.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [each["q"] for talk in map(json.loads, talks) for each in talk["questions"]]

    assert sum(map(asks_nothing, nothing)) / len(nothing) >= 0.6
    assert sum(map(asks_nothing, asked)) / len(asked) <= 0.02


def test_a_process_embeds_the_examples_before_its_first_request() -> None:
    _trained.cache_clear()
    _label.cache_clear()

    apps.get_app_config("plans").warm_up()  # type: ignore[attr-defined]

    assert _trained.cache_info().currsize == 1
