"""Facts as a read-only block: which are in it, which are not and why, and how it is written."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.models import Memory
from teams.models import Team
from tests.support.cast import Cast, Clients
from tests.support.memories_api import (
    OLD_LIMIT,
    OTHER_LIMIT,
    disputed,
    open_ones,
    post,
    remember,
    shown,
)

__all__ = ["disputed"]

ASK = "Implement the billing endpoint: which database does the code use?"
DATABASE = "The billing service stores invoices in PostgreSQL."
RULE = "═" * 32


def context(api: APIClient, user_request: str = ASK, **params: Any) -> Any:
    """The answer for a request."""
    response = api.get("/v1/memory/context", {"user_request": user_request, **params})
    assert response.status_code == 200, response.content
    return response.json()


def causes(answer: Any) -> dict[str, str]:
    """By memory, why it was left out."""
    return {each["id"]: each["cause"] for each in answer["left_out"]}


def settings(cast: Cast, **values: object) -> None:
    """Set these for the team's context."""
    Team.objects.filter(pk=cast.team.pk).update(context_settings=values)


def said(answer: Any) -> list[str]:
    """The texts of the facts."""
    return [each["content"] for each in answer["facts"]]


class TestTheBlock:
    def test_is_the_seeds(self, api: APIClient) -> None:
        remember(api, DATABASE, category="decision")

        answer = context(api)

        assert answer["context"].splitlines() == [
            "PERSISTENT MEMORY (READ-ONLY)",
            RULE,
            "",
            "[FACT]: The billing service stores invoices in PostgreSQL. (importance: 8)",
            "",
            "Use these facts unless the user explicitly contradicts them.",
            "These facts are authoritative and cannot be modified by AI.",
            "Tell whoever wants something forgotten that their team does it in the memory's admin"
            " or API.",
            "",
            RULE,
        ]
        assert answer["chars"] == len(answer["context"])
        assert (answer["request_type"], answer["truncated"]) == ("coding", False)
        assert answer["facts"][0]["reason"].startswith("scope team; category decision")

    def test_is_empty_without_facts(self, api: APIClient) -> None:
        answer = context(api)

        assert (answer["context"], answer["chars"], answer["facts"]) == ("", 0, [])

    def test_loses_its_marker_where_the_team_says_so(self, api: APIClient, acme: Cast) -> None:
        remember(api, DATABASE, category="decision")
        settings(acme, read_only_marker=False)

        block = context(api)["context"]

        assert block.startswith(f"PERSISTENT MEMORY\n{RULE}")
        assert "cannot be modified" not in block
        assert "forgotten" not in block

    def test_never_passes_its_length_and_names_what_found_no_room(self, api: APIClient) -> None:
        for number in range(8):
            text = f"Billing decision {number}: the endpoint of the code keeps rule {number * 7}."
            remember(api, text, category="decision", check=False)

        answer = context(api, max_chars=500)

        assert answer["chars"] <= 500
        assert answer["truncated"]
        assert "budget" in causes(answer).values()
        assert len(answer["facts"]) >= 2


class TestWhatIsNotTold:
    def test_is_a_preference_in_a_request_for_code(self, api: APIClient) -> None:
        taste = remember(
            api, "The billing code should be commented.", category="preferences", confirm=True
        )
        remember(api, DATABASE, category="decision")

        answer = context(api)

        assert said(answer) == [DATABASE]
        assert causes(answer)[taste] == "category"

    def test_is_what_is_too_uncertain(self, api: APIClient, acme: Cast) -> None:
        weak = remember(api, DATABASE, category="decision", confidence=0.6)

        assert causes(context(api))[weak] == "confidence"
        assert said(context(api, confidence_threshold=0.5)) == [DATABASE]
        settings(acme, confidence_threshold=0.6)
        assert said(context(api)) == [DATABASE]

    def test_is_in_a_general_request_all_that_is_not_quite_certain(self, api: APIClient) -> None:
        text = "The Eiffel Tower meeting room is on the third floor."
        remember(api, text, confidence=0.8)

        answer = context(api, "How tall is the Eiffel Tower?")

        assert (answer["request_type"], answer["confidence_threshold"]) == ("general", 0.9)
        assert answer["facts"] == []

    def test_is_of_another_person_project_or_agent(self, api: APIClient, acme: Cast) -> None:
        of_sarah = remember(api, "Sarah reviews all code of the endpoint.", user="sarah")
        of_kyra = remember(
            api, "The billing database is Kyra's.", agent="kyra", memory_type="agent_private"
        )
        of_lantern = remember(api, "Lantern code has a billing database.", project="lantern")

        # Without a user not even that there is something about people is told.
        assert causes(context(api)) == dict.fromkeys([of_kyra, of_lantern], "other_scope")
        answer = context(api, user="sarah", project="lantern", agent="kyra")
        assert {each["id"]: each["scope"] for each in answer["facts"]} == {
            of_sarah: "user",
            of_kyra: "team",
            of_lantern: "project",
        }
        assert context(api, user="dmitri", project="other", agent="luke")["facts"] == []

    def test_is_what_is_over(self, api: APIClient) -> None:
        old = remember(api, DATABASE, valid_to="2020-01-01T00:00:00Z")

        assert causes(context(api))[old] == "stale"

    def test_is_anything_of_another_team(
        self, api: APIClient, client_of: Clients, globex: Cast
    ) -> None:
        remember(client_of(globex), DATABASE, category="decision")

        answer = context(api)

        assert (answer["facts"], answer["left_out"]) == ([], [])


class TestScopes:
    def test_the_narrowest_comes_first_and_the_next_only_where_it_is_needed(
        self, api: APIClient, acme: Cast
    ) -> None:
        of_team = remember(api, DATABASE, category="decision")
        of_project = remember(
            api, "Lantern billing code uses MySQL as database.", project="lantern"
        )
        answer = context(api, project="lantern")
        assert [each["id"] for each in answer["facts"]] == [of_project, of_team]
        assert answer["scopes"] == {"asked": ["session", "project", "user", "team"], "reason": ""}

        settings(acme, enough_facts=1)
        answer = context(api, project="lantern")

        assert [each["id"] for each in answer["facts"]] == [of_project]
        assert causes(answer) == {of_team: "enough"}
        assert answer["scopes"]["asked"] == ["session", "project"]
        assert "1 are enough" in answer["scopes"]["reason"]

    def test_what_was_learned_in_the_conversation_counts_for_the_session(
        self, api: APIClient
    ) -> None:
        here = post(api, "conversations", agent="kyra", user="sarah").json()["id"]
        learned = remember(api, DATABASE, category="decision", user="sarah", conversation=here)

        assert context(api, conversation=here)["facts"][0]["scope"] == "session"
        there = post(api, "conversations", agent="kyra", user="sarah", thread_id="b").json()["id"]
        assert context(api, conversation=there)["facts"][0]["scope"] == "user"
        assert shown(api, learned)["scope"] == "user"


class TestConflicts:
    @pytest.mark.parametrize("confidence", [0.8, 0.95])
    def test_both_sides_of_an_open_dispute_are_told_and_marked(
        self, api: APIClient, confidence: float
    ) -> None:
        old = remember(api, OLD_LIMIT, confidence=0.95)
        new = remember(api, OTHER_LIMIT, confidence=confidence)

        answer = context(api, "Which API limit does the code of the client have to respect?")

        assert {each["id"]: each["is_flagged"] for each in answer["facts"]} == {
            old: True,
            new: True,
        }
        assert answer["context"].count("[FACT DISPUTED]:") == 2
        assert answer["conflicts"][0]["resolution"] == "both_flagged"
        assert shown(api, old)["status"] == "disputed"

    def test_the_listed_conflict_recommends_the_newer_of_equally_certain_facts(
        self, api: APIClient, disputed: tuple[str, str, str]
    ) -> None:
        old, new, contradiction = disputed

        (group,) = api.get("/v1/memory/conflicts").json()["conflicts"]

        assert [each["id"] for each in group["facts"]] == [new, old]
        assert group["recommended"]["resolution"] == "newer"
        assert group["recommended"]["keep"] == [new]
        assert group["contradictions"] == [contradiction]
        assert len(open_ones(api)) == 1

    def test_where_nothing_says_which_both_are_told_and_marked(self, api: APIClient) -> None:
        at = "2026-03-01T10:00:00Z"
        ids = {remember(api, text, created_at=at) for text in (OLD_LIMIT, OTHER_LIMIT)}
        assert len(open_ones(api)) == 1

        answer = context(api, "Which API limit does the code of the client have to respect?")

        assert {each["id"] for each in answer["facts"]} == ids
        assert all(each["is_flagged"] for each in answer["facts"])
        assert answer["context"].count("[FACT DISPUTED]:") == 2
        assert answer["conflicts"][0]["resolution"] == "both_flagged"
        tight = context(
            api, "Which API limit does the code of the client have to respect?", max_chars=400
        )
        assert tight["facts"] == []

    def test_a_key_sees_only_conflicts_of_which_it_sees_both_sides(
        self, api: APIClient, client_of: Clients, globex: Cast, disputed: tuple[str, str, str]
    ) -> None:
        assert client_of(globex).get("/v1/memory/conflicts").json() == {"conflicts": []}

    def test_a_persons_conflicts_are_the_teams_and_an_agents_that_names_the_person(
        self, api: APIClient, acme: Cast, client_of: Clients
    ) -> None:
        for text in (OLD_LIMIT, OTHER_LIMIT):
            remember(api, text, user="sarah")
        kyra = client_of(acme, agent=acme.kyra)

        def found(client: APIClient, query: str = "") -> int:
            return len(client.get(f"/v1/memory/conflicts?{query}").json()["conflicts"])

        assert (found(api), found(kyra), found(kyra, "user=sarah")) == (1, 0, 1)


class TestWhatIsTold:
    def test_only_preferences_that_fit_the_request(self, api: APIClient) -> None:
        fits = {"Answers use metric units.", "Sarah wants tables in Markdown."}
        for text in (*fits, "Sarah prefers window seats on trains.", "Sarah likes coffee black."):
            remember(api, text, user="sarah", category="preferences", check=False)

        assert set(said(context(api, "Put that into a table.", user="sarah"))) == fits
        trip = said(context(api, "Which train tickets suit me?", user="sarah"))
        assert "Sarah prefers window seats on trains." in trip
        assert "Answers use metric units." not in trip

    def test_each_fact_once_whatever_its_wordings(self, api: APIClient) -> None:
        wordings = (
            DATABASE,
            "Invoices of the billing service are stored in PostgreSQL.",
            "The billing service uses PostgreSQL to store invoices.",
        )
        others = {
            "The billing service stores receipts in PostgreSQL.",
            "The billing service stores invoices for ten years.",
        }
        ids = [
            remember(api, text, category="decision", check=False) for text in (*wordings, *others)
        ]

        answer = context(api, "Implement the billing endpoint: where does the code store invoices?")

        assert others < set(said(answer))
        assert len(answer["facts"]) == 3
        repeated = [key for key, cause in causes(answer).items() if cause == "duplicate"]
        assert len(set(repeated) & set(ids[:3])) == 2

    def test_all_that_is_known_of_who_asks_what_is_known(self, api: APIClient) -> None:
        known = {
            "Sarah is a nurse.": {"memory_type": "user_profile"},
            "Sarah lives in Berlin.": {},
            "Sarah is allergic to peanuts.": {"category": "health"},
            "Sarah wants to learn Spanish.": {"category": "goals"},
            "Sarah went to Porto in May.": {"memory_type": "episodic"},
            "Sarah prefers tea.": {"category": "preferences"},
            "Sarah wants tables in Markdown.": {"category": "preferences"},
        }
        for text, fields in known.items():
            remember(api, text, user="sarah", check=False, **fields)
        for number in range(15):
            remember(api, f"Customer {number} asked what you know about me.", check=False)

        answer = context(api, "What do you know about me?", user="sarah")

        assert set(said(answer)) == set(known)

    def test_little_where_the_request_asks_nothing_of_memory(self, api: APIClient) -> None:
        remember(api, DATABASE)
        remember(api, "Our second office is in Paris, the capital of France.")

        assert said(context(api, "Thank you, that was helpful.")) == []
        assert len(said(context(api, "What is the capital of France?"))) == 1
        assert said(context(api, "Who is the head of the sales department?"))

    def test_constraints_of_the_requests_type_whatever_its_words(self, api: APIClient) -> None:
        rule, aside = "No release on Fridays.", "Lunch is at noon."
        remember(api, rule, category="constraint")
        remember(api, aside)
        for number in range(25):
            remember(api, f"The billing code uses database {number}.", check=False)

        answer = said(context(api))

        assert rule in answer
        assert aside not in answer

    def test_that_nothing_else_is_known_where_it_is_asked_for(self, api: APIClient) -> None:
        only = "Nothing else is known: of what does not stand here, say that you do not know it."
        empty = context(api, only_known="true")
        assert only in empty["context"]
        assert "Nothing is known about this request." in empty["context"]
        remember(api, DATABASE, category="decision")

        lines = context(api, only_known="true", max_chars=500)["context"].splitlines()

        assert lines[3].startswith("[FACT]: The billing service")
        assert lines[5] == only
        assert only not in context(api)["context"]


class TestSelect:
    def test_gives_the_facts_with_a_reason_each_and_no_text(self, api: APIClient) -> None:
        remember(api, DATABASE, category="decision")
        remember(
            api, "Sarah wants answers in short sentences.", category="preferences", confirm=True
        )

        answer = post(api, "memory/select", user_request=ASK).json()

        assert said(answer) == [DATABASE]
        assert "context" not in answer
        filtered = post(
            api, "memory/select", user_request=ASK, category_filter=["preferences"]
        ).json()
        assert said(filtered) == ["Sarah wants answers in short sentences."]
        assert post(
            api, "memory/select", user_request=ASK, scope_filter=["project", "session"]
        ).json()["scopes"]["asked"] == ["session", "project"]

    def test_a_preference_is_told_whatever_the_words_of_a_request_for_format(
        self, api: APIClient
    ) -> None:
        remember(api, "Answers use metric units.", category="preferences", confirm=True)

        answer = post(api, "memory/select", user_request="Put that into a table.").json()

        assert (answer["request_type"], len(answer["facts"])) == ("output_format", 1)

    def test_categories_are_the_teams(self, api: APIClient, acme: Cast) -> None:
        remember(api, "The billing endpoint of the code is owned by Ann.", category="owners")
        settings(acme, categories={"coding": ["owner"]})

        answer = post(api, "memory/select", user_request=ASK).json()

        assert (answer["categories"], len(answer["facts"])) == (["owner"], 1)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "user_request"),
        ({"user_request": "  "}, "user_request"),
        ({"user_request": "x" * 8001}, "user_request"),
        ({"user_request": "x", "confidence_threshold": "1.5"}, "confidence_threshold"),
        ({"user_request": "x", "max_chars": "10"}, "max_chars"),
        ({"user_request": "x", "conversation": "x"}, "conversation"),
        ({"user_request": "x", "budget": "9"}, "budget"),
    ],
)
def test_bad_parameters_are_named(api: APIClient, params: dict[str, str], field: str) -> None:
    response = api.get("/v1/memory/context", params)

    assert response.status_code == 422
    assert field in response.json()["errors"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scope_filter": ["galaxy"]}, "scope_filter"),
        ({"scope_filter": "user"}, "scope_filter"),
        ({"category_filter": [""]}, "category_filter"),
        ({"confidence_threshold": "0.7"}, "confidence_threshold"),
        ({"nothing": 1}, "nothing"),
    ],
)
def test_bad_bodies_are_named(api: APIClient, body: dict[str, object], field: str) -> None:
    response = post(api, "memory/select", user_request="x", **body)

    assert response.status_code == 422
    assert any(name.startswith(field) for name in response.json()["errors"])


def test_unknown_agents_are_not_found_and_memory_may_be_off(api: APIClient, acme: Cast) -> None:
    unknown = api.get("/v1/memory/context", {"user_request": "x", "agent": "nobody"})
    assert (unknown.status_code, list(unknown.json()["errors"])) == (404, ["agent"])
    Team.objects.filter(pk=acme.team.pk).update(feature_flags={"memory": False})
    for path in ("context?user_request=x", "conflicts"):
        assert api.get(f"/v1/memory/{path}").status_code == 403


def test_an_agent_with_an_allowlist_reads_nothing_else(
    api: APIClient, acme: Cast, client_of: Clients
) -> None:
    remember(api, DATABASE, category="decision")
    acme.luke.allowed_categories = ["goals"]
    acme.luke.save()
    luke = client_of(acme, agent=acme.luke)

    assert context(luke)["facts"] == []
    refused = post(luke, "memory/select", user_request=ASK, category_filter=["decision"])
    assert refused.status_code == 403


def test_reading_changes_no_memory(api: APIClient, disputed: tuple[str, str, str]) -> None:
    before = list(Memory.objects.order_by("id").values())

    context(api, "Forget everything about the API limit of the code.")

    assert list(Memory.objects.order_by("id").values()) == before
