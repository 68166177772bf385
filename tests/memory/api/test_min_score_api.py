"""`min_score`: what says less about the question than a caller asks for is not told."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.support.memories_api import post, remember

READS = ["retrieve", "prompt", "memory/query", "memories/search"]
RUNS = "The billing service runs on PostgreSQL."
LUNCH = "Lunch is at noon on Fridays."
IDENTITY = "I am Kyra and I like examples."
PINNED = "Never promise dates."
PROFILE = "Sarah is a nurse."
ABOUT_BILLING = "What does the billing service run on?"
UNRELATED = "Which zebra won the marathon?"
LEAST = 0.35
# So many of the most relevant candidates are in a prompt whatever their relevance.
BEST = 20

each_read = pytest.mark.parametrize("path", READS)


@pytest.fixture
def filled(api: APIClient) -> APIClient:
    """A client of a team that knows some facts, and what is always told."""
    for fact in (RUNS, LUNCH):
        remember(api, fact)
    remember(api, IDENTITY, memory_type="identity", agent="kyra")
    remember(api, PINNED, is_pinned=True)
    remember(api, PROFILE, memory_type="user_profile", user="sarah")
    return api


def ask(api: APIClient, path: str, query: str, **fields: Any) -> Any:
    """The answer to Kyra's question."""
    body = {"agent": "kyra", "query": query, **fields}
    is_search = path == "memories/search"
    answer = api.get(f"/v1/{path}", body) if is_search else post(api, path, **body)
    assert answer.status_code == 200, answer.content
    return answer.json()


def told(answer: Any) -> set[str]:
    """The texts of the answer's memories, without the labels of lines."""
    rows = answer.get("memories", answer.get("results"))
    return {each.get("content", each.get("text", "")).split("] ")[-1] for each in rows}


def below(answer: Any) -> int:
    """Returns the number of candidates that were left out."""
    found: int = answer.get("stats", answer)["below_min_score"]
    return found


@each_read
def test_without_it_nothing_of_a_few_is_left_out(filled: APIClient, path: str) -> None:
    assert below(ask(filled, path, UNRELATED)) == 0


@pytest.mark.parametrize("path", ["retrieve", "prompt"])
def test_a_prompt_tells_the_best_however_little_they_say(filled: APIClient, path: str) -> None:
    assert {RUNS, LUNCH} <= told(ask(filled, path, UNRELATED))


@pytest.mark.parametrize("path", ["retrieve", "prompt"])
def test_without_it_a_prompt_includes_what_is_relevant_beside_the_best(
    filled: APIClient, path: str
) -> None:
    hosts = [f"The billing service runs on host {number}." for number in range(BEST + 5)]
    for each in hosts:
        remember(filled, each, check=False)

    answer = ask(filled, path, ABOUT_BILLING)
    everything = ask(filled, path, ABOUT_BILLING, min_score=0)

    assert {RUNS, *hosts, IDENTITY, PINNED} <= told(answer)
    assert (LUNCH in told(answer), LUNCH in told(everything)) == (False, True)
    assert (below(answer) > 0, below(everything)) == (True, 0)


@pytest.mark.parametrize("query", [UNRELATED, "?"])
def test_without_it_a_prompt_includes_the_best_of_any_question(
    filled: APIClient, query: str
) -> None:
    for number in range(BEST + 5):
        remember(filled, f"The billing service runs on host {number}.", check=False)

    assert len(told(ask(filled, "retrieve", query))) >= BEST


@each_read
def test_what_says_too_little_is_left_out_and_counted(filled: APIClient, path: str) -> None:
    answer = ask(filled, path, ABOUT_BILLING, min_score=LEAST)

    assert RUNS in told(answer)
    assert LUNCH not in told(answer)
    assert below(answer) >= 1


@pytest.mark.parametrize(
    ("path", "always"),
    [
        ("retrieve", {IDENTITY, PINNED}),
        ("prompt", {IDENTITY, PINNED, PROFILE}),
        ("memory/query", set()),
        ("memories/search", set()),
    ],
)
def test_a_question_that_nothing_answers_gets_what_is_always_told(
    filled: APIClient, path: str, always: set[str]
) -> None:
    answer = ask(filled, path, UNRELATED, user="sarah", min_score=LEAST)

    assert told(answer) == always
    assert below(answer) >= 2


@each_read
def test_the_request_sets_it_under_either_name(filled: APIClient, path: str) -> None:
    everything = ask(filled, path, UNRELATED, min_score=0)
    nothing = ask(filled, path, ABOUT_BILLING, min_score=1)

    assert below(everything) == 0
    assert RUNS not in told(nothing)
    assert told(ask(filled, path, ABOUT_BILLING, threshold=1)) == told(nothing)


@each_read
@pytest.mark.parametrize("wrong", [-0.1, 1.1, "much"])
def test_it_lies_between_0_and_1(filled: APIClient, path: str, wrong: float | str) -> None:
    body: dict[str, Any] = {"agent": "kyra", "query": UNRELATED, "threshold": wrong}
    is_search = path == "memories/search"
    answer = filled.get(f"/v1/{path}", body) if is_search else post(filled, path, **body)

    assert answer.status_code == 422
    assert set(answer.json()["errors"]) == {"threshold"}


def test_what_a_filter_left_is_told_whole_unless_the_request_says_otherwise(
    filled: APIClient,
) -> None:
    filters = {"memory_type": "semantic"}

    whole = ask(filled, "memory/query", UNRELATED, filters=filters)
    narrowed = ask(filled, "memory/query", UNRELATED, filters=filters, min_score=LEAST)

    assert told(whole) == {RUNS, LUNCH, PINNED}
    assert (told(narrowed), below(narrowed)) == (set(), 3)


def test_messages_are_held_to_it_too(api: APIClient) -> None:
    for said in (RUNS, LUNCH):
        made = post(api, "conversations", agent="kyra", user="sarah").json()
        messages = [{"role": "user", "content": said}]
        post(api, f"conversations/{made['id']}/messages", messages=messages)

    answer = ask(api, "retrieve", ABOUT_BILLING, user="sarah", min_score=LEAST)

    assert [each["content"] for each in answer["messages"]] == [RUNS]
    assert below(answer) == 1


def test_what_was_said_at_the_time_asked_for_is_told(api: APIClient) -> None:
    remember(
        api,
        "The crane was repaired.",
        memory_type="episodic",
        created_at="2026-03-10T12:00:00Z",
    )

    assert told(ask(api, "retrieve", "What happened on 10 March 2026?", min_score=1))


def test_both_sides_of_a_dispute_are_told_together(api: APIClient) -> None:
    for limit in (100, 500):
        remember(api, f"The API limit is {limit} requests per minute.")

    answer = ask(api, "retrieve", "Is the API limit 100 requests?", min_score=0.6)

    assert len(told(answer)) == 2


def test_an_answer_of_another_least_score_is_not_kept_for_it(filled: APIClient) -> None:
    assert LUNCH not in told(ask(filled, "retrieve", ABOUT_BILLING, min_score=LEAST))
    assert LUNCH in told(ask(filled, "retrieve", ABOUT_BILLING))
