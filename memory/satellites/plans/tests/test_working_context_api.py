"""The context of work in progress: what is told in which tier, to whom, and within which budget."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memory.domain.plans.plan import RULE
from memory.domain.rendering import estimate_tokens
from memory.satellites.plans.placing import TITLE
from tests.support.cast import Cast
from tests.support.memories_api import disputed

__all__ = ["disputed"]

FILE = "src/auth/login.ts"
ERROR = "TimeoutError in checkout: the pool has no connection left"


def know(api: APIClient, content: str = "", **fields: Any) -> str:
    """Store a memory of the project unless the fields say otherwise; its id."""
    body: dict[str, Any] = {"project": "shop", "check": False, **fields}
    if content:
        body["content"] = content
    response = api.post("/v1/memories", body, format="json")
    assert response.status_code == 201, response.content
    return str(response.json()["id"])


def decision(api: APIClient, text: str, *files: str, **fields: Any) -> str:
    artifacts = [{"kind": "file", "ref": each} for each in files]
    payload = {"decision": text, **({"artifacts": artifacts} if artifacts else {})}
    return know(api, form="decision", payload=payload, **fields)


def send(api: APIClient, budget: Any = 8_000, **fields: Any) -> Any:
    """The response; further fields that the endpoint does not name itself are signals."""
    body = {"agent": "kyra", "project": "shop", "budget": budget}
    names = {"agent", "user", "project"}
    body |= {name: value for name, value in fields.items() if name in names}
    body["signals"] = {name: value for name, value in fields.items() if name not in names}
    return api.post("/v1/context/assemble", body, format="json")


def assemble(api: APIClient, **fields: Any) -> Any:
    response = send(api, **fields)
    assert response.status_code == 200, response.content
    return response.json()


def expand(api: APIClient, topic: str, **fields: Any) -> Any:
    params = {"topic": topic, "agent": "kyra", "project": "shop", **fields}
    return api.get("/v1/context/expand", params)


def tier_of(answer: Any) -> dict[str, str]:
    return {each["content"]: each["tier"] for each in answer["memories"]}


def pattern(api: APIClient, trigger: str, *places: str) -> str:
    artifacts = [{"kind": "file", "ref": each} for each in places]
    payload = {"trigger": trigger, "template": "x", "hint": f"{trigger} → render"}
    return know(api, form="pattern", payload={**payload, "artifacts": artifacts})


class TestPatterns:
    def told(self, api: APIClient, **signals: Any) -> set[str]:
        found = assemble(api, **signals)["memories"]
        return {each["content"].partition(":")[0] for each in found if each["form"] == "pattern"}

    def test_a_pattern_is_included_where_it_repeats_in_the_open_file(
        self, api: APIClient, acme: Cast
    ) -> None:
        here, there = (
            [f"{path}#L{n}-L{n + 3}" for n in (1, 11, 21)] for path in (FILE, "src/b.ts")
        )
        pattern(api, "login page", *here)
        pattern(api, "login form", *here[:2], there[0])
        pattern(api, "login test", *there)
        query = "Log failed attempts on the login screen, with the time and the address"

        assert self.told(api, current_file=FILE, query=query) == {"login page"}
        assert self.told(api, current_file="src/c.ts", query=query) == set()
        assert self.told(api, current_file=FILE, query="Who won the match?") == set()

    def test_another_pattern_has_to_match_the_query(self, api: APIClient, acme: Cast) -> None:
        pattern(api, "new endpoint")

        assert self.told(api, current_file=FILE, query="Add a new endpoint") == {"new endpoint"}
        assert self.told(api, current_file=FILE, query="Fix the typo of the header") == set()


class TestTiers:
    def test_decisions_about_the_open_file_are_critical_whatever_their_words(
        self, api: APIClient, acme: Cast
    ) -> None:
        decision(api, "Sessions replace tokens.", FILE)
        decision(api, "Cookies are signed.", "src/auth/cookie.ts")
        decision(api, "Zebras are striped.", "src/zoo/zebra.ts")

        answer = assemble(api, current_file=FILE)

        tiers = tier_of(answer)
        assert tiers["Sessions replace tokens."] == "tier1"
        assert "tier1" not in (tiers.get("Cookies are signed."), tiers.get("Zebras are striped."))
        why = {each["content"]: each["why"] for each in answer["memories"]}
        assert why["Sessions replace tokens."] == "a decision on this file"
        assert "[DECISION]: Sessions replace tokens." in answer["context"]

    def test_a_category_of_the_branch_is_near(self, api: APIClient, acme: Cast) -> None:
        decision(api, "Invoices are immutable.", category="billing")

        found = tier_of(assemble(api, branch="fix/billing-rounding"))

        assert found == {"Invoices are immutable.": "tier1"}

    def test_errors_find_their_failure_and_mean_debugging(self, api: APIClient, acme: Cast) -> None:
        know(
            api,
            form="failure",
            payload={"signature": "TimeoutError in checkout", "lesson": "Raise the pool first."},
        )
        decision(api, "Zebras are striped.", "src/zoo/zebra.ts")

        answer = assemble(api, recent_errors=[ERROR])

        (told,) = answer["memories"]
        assert (told["tier"], told["why"]) == ("tier1", "it is about a recent error")
        assert answer["activity"] == "debugging"
        assert answer["rebalanced"] is True

    def test_an_error_is_kept_for_a_day(self, api: APIClient, acme: Cast) -> None:
        payload = {"signature": ERROR, "lesson": "The pool is too small."}
        know(api, form="failure", payload=payload)
        assert "[FAILURE]" not in assemble(api, query="Release notes")["context"]

        assemble(api, recent_errors=[ERROR])
        later = assemble(api, query="Release notes")

        assert later["activity"] is None
        assert f"[FAILURE]: {ERROR}" in later["context"].partition("## Relevant")[0]
        assert "[FAILURE]" not in assemble(api, query="Release notes", user="dmitri")["context"]

    def test_errors_find_what_was_said_of_them_lately(self, api: APIClient, acme: Cast) -> None:
        start = {"agent": "kyra", "user": "sarah", "project": "shop", "thread_id": "checkout"}
        talk = api.post("/v1/conversations", start, format="json")
        said = "The checkout pool had no connection left, so I raised it to forty."
        path = f"/v1/conversations/{talk.json()['id']}/messages"
        posted = api.post(path, {"messages": [{"role": "user", "content": said}]}, format="json")
        assert posted.status_code in (200, 201), posted.content

        answer = assemble(api, user="sarah", recent_errors=[ERROR])

        assert [each["content"] for each in answer["messages"]] == [said]
        assert answer["tiers"]["tier1"] > 0
        assert said in answer["context"]
        assert assemble(api, recent_errors=[ERROR])["messages"] == []
        assert assemble(api, collaborator="sarah", recent_errors=[ERROR])["messages"] == []

    def test_conventions_workflows_and_summaries_are_background(
        self, api: APIClient, acme: Cast
    ) -> None:
        know(api, form="convention", payload={"convention": "Tests are named after behaviour."})
        know(api, form="workflow", payload={"trigger": "deploy", "steps": ["build", "verify"]})
        know(api, "In March the shop moved to Riga.", tags=["summary"])

        answer = assemble(api, current_file=FILE)

        assert set(tier_of(answer).values()) == {"tier3"}
        assert len(answer["memories"]) == 3

    def test_the_background_is_told_in_full(self, api: APIClient, acme: Cast) -> None:
        text = "All of the tests are to be named after the behaviour that they are about."
        know(api, form="convention", payload={"convention": text})

        answer = assemble(api, current_file=FILE)

        (told,) = answer["memories"]
        assert (told["level"], told["content"]) == ("content", text)
        assert f"[CONVENTION]: {text}" in answer["context"]

    def test_what_the_query_retrieves_is_relevant(self, api: APIClient, acme: Cast) -> None:
        know(api, "The Riga studio pays 1,200 euros of rent.")

        answer = assemble(api, query="How much rent does the Riga studio pay?")

        assert set(tier_of(answer).values()) == {"tier2"}

    def test_words_alone_have_to_say_more_for_a_commit_of_other_files(
        self, api: APIClient, acme: Cast
    ) -> None:
        query = "Show the VAT number of the customer on invoices"
        whole, part, said = (
            "Invoices show the VAT number of the customer.",
            "Invoices show the number of the customer.",
            "Invoices show the VAT rate.",
        )
        for title in (whole, part):
            artifacts = [{"kind": "file", "ref": "src/billing/invoice.ts"}]
            know(api, form="episode", payload={"title": title, "artifacts": artifacts})
        know(api, said)

        elsewhere, here, nowhere = (
            set(tier_of(assemble(api, query=query, **signals)))
            for signals in (
                {"current_file": FILE},
                {"current_file": "src/billing/invoice.ts"},
                {},
            )
        )

        assert elsewhere == {whole, said}
        assert here == nowhere == {whole, part, said}

    def test_a_contradiction_in_play_is_critical_and_tells_both_sides(
        self, api: APIClient, acme: Cast, disputed: Any
    ) -> None:
        answer = assemble(api, query="What is the API limit?")

        told = [each for each in answer["memories"] if each["status"] == "disputed"]
        assert len(told) == 2
        assert {each["tier"] for each in told} == {"tier1"}
        assert answer["context"].count("DISPUTED") == 2

    def test_an_open_contradiction_of_the_project_is_critical_whatever_is_asked(
        self, api: APIClient, acme: Cast
    ) -> None:
        for limit in (100, 500):
            text = f"The API limit is {limit} calls a minute."
            know(api, form="convention", payload={"convention": text}, check=True)

        answer = assemble(api, current_file=FILE)
        elsewhere = assemble(api, current_file=FILE, project="other")

        told = [each for each in answer["memories"] if each["status"] == "disputed"]
        assert [each["tier"] for each in told] == ["tier1", "tier1"]
        assert not elsewhere["memories"]

    def test_what_is_pinned_comes_first(self, api: APIClient, acme: Cast) -> None:
        know(api, "Never deploy on a Friday.", is_pinned=True)

        assert tier_of(assemble(api, current_file=FILE)) == {"Never deploy on a Friday.": "tier1"}


class TestIndex:
    def test_points_to_what_is_not_told_and_each_pointer_opens(
        self, api: APIClient, acme: Cast
    ) -> None:
        know(api, "The Riga studio pays 1,200 euros of rent.", category="Rent")
        for number in range(3):
            know(api, f"Zebra number {number} is striped.", category="zoo", tags=["animal"])
        decision(api, "Yaks are shaggy.", "src/farm/yak.ts")

        answer = assemble(api, query="How much rent does the Riga studio pay?")

        index = {each["topic"]: each["count"] for each in answer["index"]}
        assert index == {"zoo": 3, "animal": 3, "src/farm": 1}
        assert "- zoo (3)" in answer["context"]
        assert answer["context"].startswith(TITLE)
        assert answer["context"].endswith(f"\n\n{RULE}")
        assert answer["context"].count(RULE) == 2
        for topic, count in index.items():
            opened = expand(api, topic).json()
            assert len(opened["memories"]) + opened["left_out"] == count
            assert all(each["content"] in opened["context"] for each in opened["memories"])
            assert opened["token_count"] == estimate_tokens(opened["context"])

    def test_a_budget_cuts_what_a_topic_tells(self, api: APIClient, acme: Cast) -> None:
        for number in range(40):
            know(api, f"Zebra number {number} is striped in its own way.", category="zoo")

        opened = expand(api, "ZOO", budget=400).json()

        assert opened["token_count"] <= 400
        assert 0 < len(opened["memories"]) < 40
        assert len(opened["memories"]) + opened["left_out"] == 40

    def test_what_was_written_since_is_counted(self, api: APIClient, acme: Cast) -> None:
        assert assemble(api, query="rent")["index"] == []
        know(api, "Zebras are striped.", category="zoo")

        answer = assemble(api, query="rent")
        assert answer["index"] == [{"topic": "zoo", "count": 1}]
        assert answer["context"].startswith(TITLE)
        assert answer["context"].endswith(f"- zoo (1)\n\n{RULE}")


class TestBudget:
    @pytest.mark.parametrize("budget", [300, 1_000, 4_000])
    def test_is_never_passed_and_the_index_has_its_place(
        self, api: APIClient, acme: Cast, budget: int
    ) -> None:
        for number in range(60):
            decision(api, f"Login rule number {number} holds for every session.", FILE)
            know(api, form="convention", payload={"convention": f"Name rule {number} by its use."})
        for number in range(20):
            know(api, f"Zebra {number} is striped.", category=f"zoo-{number}")

        answer = assemble(api, budget=budget, current_file=FILE)

        assert answer["token_count"] == estimate_tokens(answer["context"]) <= budget
        assert answer["tiers"]["tier4"] > 0
        assert answer["index"]
        assert len({each["id"] for each in answer["memories"]}) == len(answer["memories"])

    def test_room_that_a_tier_leaves_free_goes_to_the_next(
        self, api: APIClient, acme: Cast
    ) -> None:
        for number in range(80):
            know(api, form="convention", payload={"convention": f"Name rule {number} by its use."})

        answer = assemble(api, budget=800, current_file=FILE)

        assert answer["tiers"]["tier3"] > 0.25 * 800
        assert answer["rebalanced"] is True

    def test_nothing_is_known(self, api: APIClient, acme: Cast) -> None:
        answer = assemble(api)

        assert (answer["context"], answer["token_count"]) == ("", 0)
        assert (answer["memories"], answer["index"]) == ([], [])
        assert (answer["rebalanced"], answer["activity"]) == (False, None)


class TestWhose:
    def test_nothing_of_another_person_project_agent_or_category_is_told(
        self, api: APIClient, acme: Cast
    ) -> None:
        know(api, "The word is shared.", category="word")
        hidden = ("lantern", "dmitri", "private", "forbidden")
        know(api, "The word is lantern.", project="lantern", category="word")
        know(api, "The word is dmitri.", user="dmitri", category="word")
        know(
            api, "The word is private.", agent="luke", memory_type="agent_private", category="word"
        )
        know(api, "The word is forbidden.", category="secret")
        acme.kyra.allowed_categories = ["word"]
        acme.kyra.save()

        for where in ({}, {"user": "sarah"}, {"user": "nobody-yet"}):
            answer = send(api, query="What is the word?", **where)
            opened = expand(api, "word", **where)
            assert "shared" in answer.json()["context"]
            assert "shared" in opened.json()["context"]
            for response in (answer, opened):
                for word in hidden:
                    assert word not in response.content.decode()
            assert expand(api, "secret", **where).status_code == 404

    def test_what_belongs_to_whom_the_request_names_is_told(
        self, api: APIClient, acme: Cast
    ) -> None:
        know(api, "The word of Sarah is saffron.", user="sarah", project=None)

        assert "saffron" in assemble(api, query="the word", user="sarah")["context"]
        assert "saffron" not in assemble(api, query="the word")["context"]

    def test_of_a_collaborator_preferences_alone_are_told(self, api: APIClient, acme: Cast) -> None:
        know(api, "Sarah prefers small commits.", user="sarah", category="preferences")
        know(api, "The word of Sarah is saffron.", user="sarah", category="word")

        answer = assemble(api, query="the word saffron", collaborator="sarah")

        assert tier_of(answer) == {"Sarah prefers small commits.": "tier2"}
        assert answer["memories"][0]["why"] == "a preference of the collaborator"
        assert answer["index"] == []
        assert assemble(api, query="the word saffron", collaborator="nobody-yet")["memories"] == []

    def test_of_a_collaborator_beside_a_user_nothing_is_told(
        self, api: APIClient, acme: Cast
    ) -> None:
        know(api, "Sarah prefers small commits.", user="sarah", category="preferences")

        assert assemble(api, user="dmitri", collaborator="sarah")["memories"] == []
        told = assemble(api, user="sarah", collaborator="sarah")
        assert set(tier_of(told).values()) == {"tier2"}


class TestRefusals:
    @pytest.mark.parametrize(
        ("fields", "field"),
        [
            ({"activity": "gardening"}, "signals"),
            ({"current_file": "a" * 100_000}, "signals"),
            ({"branch": "a\u0000b"}, "signals"),
            ({"recent_errors": ["e" * 100_000]}, "signals"),
            ({"recent_errors": ["e"] * 100}, "signals"),
            ({"recent_errors": "e"}, "signals"),
            ({"mood": "good"}, "signals"),
            ({"time": "noon"}, "signals"),
            ({"budget": 3}, "budget"),
            ({"budget": 10**9}, "budget"),
            ({"budget": "8000"}, "budget"),
        ],
    )
    def test_bad_input_names_its_field(
        self, api: APIClient, acme: Cast, fields: dict[str, Any], field: str
    ) -> None:
        response = send(api, **fields)

        assert response.status_code == 422, response.content
        assert any(name.startswith(field) for name in response.json()["errors"])

    def test_an_unknown_activity_is_told_the_known_ones(self, api: APIClient, acme: Cast) -> None:
        answer = send(api, activity="gardening").content.decode()

        for known in ("debugging", "feature", "review", "deploy", "planning"):
            assert known in answer

    def test_an_unknown_agent_or_topic_is_not_found(self, api: APIClient, acme: Cast) -> None:
        assert send(api, agent="nobody").status_code == 404
        assert expand(api, "zoo").status_code == 404
        assert expand(api, "zoo", budget=1).status_code == 422
        assert expand(api, "a" * 100_000).status_code == 422

    def test_topics_are_no_patterns(self, api: APIClient, acme: Cast) -> None:
        decision(api, "Yaks are shaggy.", "src/farm/yak.ts")

        assert expand(api, "src/farm").status_code == 200
        for topic in (".*", "src/f(", "src/far%", "src/far_", "src", "\\"):
            assert expand(api, topic).status_code == 404
