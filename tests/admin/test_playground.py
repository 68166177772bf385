"""The retrieval playground: what it shows, for whom, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_redis import get_redis_connection

from memory.domain.types import MemoryType
from memory.models import Memory, MemoryUsage
from memory.reading.usage import NOTED, TAKEN
from memory.understanding.tools import default_tools
from teams.models import Agent, AgentVersion
from teams.tenancy import team_scope
from tests.factories import ConversationFactory, ProjectFactory
from tests.support.admin import SignIn
from tests.support.cast import Cast, switch
from tests.support.writing import store

QUESTION = "Where is the office?"
RESULT_ALONE = {"headers": {"X-Playground-Result": "1"}}


def ask(client: Client, cast: Cast, **given: object) -> Any:
    """The answer to a question of Kyra's; Any: a response of the test client, with its context."""
    fields = {"agent": cast.kyra.pk, "plan": "retrieve", "question": QUESTION, **given}
    return client.post(reverse("memory_playground"), fields)


def lines(answer: Any) -> list[Any]:
    """The candidates as they are shown; Any: what the template got."""
    found: list[Any] = answer.context["result"]["lines"]
    return found


def fates(answer: Any) -> dict[str, str]:
    """Returns the outcome of each candidate, by its text."""
    return {line.text: line.fate for line in lines(answer)}


def errors(answer: Any) -> dict[str, list[str]]:
    """Returns the form's errors."""
    found: dict[str, list[str]] = answer.context["form"].errors
    return found


def tell(cast: Cast, *contents: str, **fields: Any) -> list[Memory]:
    """Store these texts as they are; Any: any field of a draft."""
    told = {"importance": 1, **fields}
    return store(cast, default_tools(), *contents, created_at=timezone.now(), **told)


@pytest.fixture
def office(inside: Cast) -> Cast:
    """Memories about the team's office, one of them private, and a more important one."""
    tell(inside, "The office is in Lisbon.", "The door opens at nine.")
    tell(inside, "Fires are reported to Ida.", importance=10)
    tell(
        inside,
        "The office of Luke is secret.",
        memory_type=MemoryType.AGENT_PRIVATE,
        agent_id=inside.luke.pk,
    )
    return inside


def test_a_viewer_sees_what_an_agent_would_be_told_and_why(
    office: Cast, viewer_client: Client
) -> None:
    answer = ask(viewer_client, office, min_score="0.4")

    page = answer.content.decode()
    first = lines(answer)[0]
    assert first.text == "The office is in Lisbon."
    assert first.is_told
    assert sum(figure.adds for figure in first.figures) == pytest.approx(first.score, abs=0.001)
    assert first.bar[0].signal == "semantic"
    assert answer.context["result"]["prompt"].count("The office is in Lisbon.") == 1
    steps = dict(answer.context["result"]["steps"])
    assert {"question", "search", "pack"} <= steps.keys()
    assert "Retrieval playground" in page
    assert fates(answer)["Fires are reported to Ida."].startswith("left out: below the minimum")


def test_what_use_adds_to_a_score_is_noted(office: Cast, viewer_client: Client) -> None:
    memory = Memory.objects.get(content="The office is in Lisbon.")
    plain = lines(ask(viewer_client, office))[0]
    MemoryUsage.objects.create(team=office.team, memory=memory, cited=9)

    used = lines(ask(viewer_client, office))[0]

    assert not plain.notes
    assert used.notes == ["use so far: score +0.022"]
    assert used.score - plain.score == pytest.approx(0.0225, abs=0.001)


def test_it_reads_as_the_agent_does(office: Cast, viewer_client: Client) -> None:
    assert "secret" not in ask(viewer_client, office).content.decode()

    answer = ask(viewer_client, office, agent=office.luke.pk)
    assert fates(answer)["The office of Luke is secret."] == "included"


def test_it_counts_no_use_and_keeps_no_answer(office: Cast, viewer_client: Client) -> None:
    redis = get_redis_connection("default")
    redis.delete(NOTED, TAKEN)
    before = set(redis.keys("*:hot:*"))

    for plan in ("retrieve", "prompt"):
        assert (
            fates(ask(viewer_client, office, plan=plan))["The office is in Lisbon."] == "included"
        )

    assert not redis.exists(NOTED, TAKEN)
    assert set(redis.keys("*:hot:*")) == before


@pytest.mark.parametrize("plan", ["retrieve", "prompt"])
def test_other_weights_change_the_order(plan: str, office: Cast, viewer_client: Client) -> None:
    options = {"plan": plan, "min_score": "0"}
    by_meaning = ask(viewer_client, office, **options)
    by_importance = ask(viewer_client, office, **options, weight_importance="900")

    assert lines(by_meaning)[0].text == "The office is in Lisbon."
    assert lines(by_importance)[0].text == "Fires are reported to Ida."


def test_what_the_budget_cut_is_named(inside: Cast, viewer_client: Client) -> None:
    for number in range(8):
        view = "with a view of the river, " * 5
        tell(inside, f"The office has a room number {number}, {view}")

    answer = ask(viewer_client, inside, token_budget="120")

    cut = [line for line in lines(answer) if not line.is_told]
    assert cut
    assert {line.fate for line in cut} == {"left out: its section of the budget is full"}
    assert all(line.tokens > 0 for line in cut if line.section)
    stats = answer.context["result"]["stats"]
    assert stats.tokens_used <= 120


def test_what_the_limit_and_a_duplicate_kept_out_is_named(
    inside: Cast, viewer_client: Client
) -> None:
    for text in ("The office is in Lisbon.", "the office is in Lisbon", "The office is old."):
        tell(inside, text)

    limited = fates(ask(viewer_client, inside, limit="1", min_score="0"))
    whole = fates(ask(viewer_client, inside, min_score="0"))

    assert "left out: over the limit" in limited.values()
    assert sum(fate.startswith("left out: duplicate") for fate in whole.values()) == 1


def test_a_prompt_has_its_seven_layers(office: Cast, viewer_client: Client) -> None:
    answer = ask(viewer_client, office, plan="prompt")

    sections = answer.context["result"]["sections"]
    assert len(sections) == 7
    assert sections[0].tokens > 0
    assert {line.section for line in lines(answer) if line.is_told} == {"retrieved"}


def test_a_conversation_gives_the_person(inside: Cast, viewer_client: Client) -> None:
    talk = ConversationFactory.create(
        team=inside.team, agent=inside.kyra, end_user=inside.sarah, project=None
    )
    tell(
        inside,
        "Sarah likes the office.",
        memory_type=MemoryType.USER_PROFILE,
        end_user_id=inside.sarah.pk,
    )

    without = ask(viewer_client, inside)
    within = ask(viewer_client, inside, conversation=talk.pk)
    of_another = ask(viewer_client, inside, conversation=talk.pk, person="dmitri")

    assert fates(without) == {}
    assert fates(within) == {"Sarah likes the office.": "included"}
    assert "conversation" in errors(of_another)


def test_nothing_of_another_team_can_be_named(
    inside: Cast, others: Cast, viewer_client: Client
) -> None:
    with team_scope(team_ids=[others.team.id], actor="test"):
        project = ProjectFactory.create(team=others.team, slug="firmware")
        talk = ConversationFactory.create(
            team=others.team, agent=others.kyra, end_user=others.sarah, project=None
        )
        tell(others, "The office of Globex is in Rome.")
    answers = {
        name: ask(viewer_client, inside, **{name: value})
        for name, value in {
            "agent": others.kyra.pk,
            "project": project.pk,
            "conversation": talk.pk,
            "person": f"nobody-{others.sarah.pk}",
        }.items()
    }

    for name, answer in answers.items():
        assert name in errors(answer)
        assert "Globex" not in answer.content.decode()
        assert "globex" not in answer.content.decode()
    assert ask(viewer_client, inside, team=others.team.pk).status_code == 404
    assert ask(viewer_client, inside, team="no-uuid").status_code == 404


def test_who_sees_several_teams_chooses_one(office: Cast, others: Cast, sign_in: SignIn) -> None:
    both = sign_in((office.team, "viewer"), (others.team, "viewer"), name="tom")
    page = both.get(reverse("memory_playground"), {"team": str(others.team.pk)})

    assert page.context["form"].fields["team"].initial == others.team
    choices = page.content.decode()
    assert str(others.kyra.pk) in choices
    assert str(office.kyra.pk) not in choices
    answer = ask(both, others, team=others.team.pk)
    assert fates(answer) == {}


def save(client: Client, cast: Cast, **given: object) -> Any:
    """Press the button that writes the weights into Kyra's document."""
    cast.kyra.refresh_from_db()
    fields = {"save": "yes", "version": cast.kyra.version, "weight_recency": "0.4", **given}
    return ask(client, cast, **fields)


def stored(agent: Agent) -> dict[str, float]:
    """The agent's weights."""
    agent.refresh_from_db()
    weights: dict[str, float] = agent.retrieval_weights
    return weights


def test_an_admin_saves_the_weights_to_the_agent(office: Cast, admin_client: Client) -> None:
    office.kyra.rules = {"never": ["Guess."]}
    office.kyra.save(update_fields=["rules"])

    save(admin_client, office)

    assert stored(office.kyra) == {
        "semantic": 0.6,
        "recency": 0.4,
        "importance": 0.15,
        "continuity": 0.1,
        "relation": 0.05,
    }
    assert office.kyra.rules == {"never": ["Guess."]}
    last = AgentVersion.objects.filter(agent=office.kyra).order_by("-number")[0]
    assert (last.actor, last.reason) == (
        "staff:ann",
        "weights tried in the retrieval playground",
    )


def test_a_save_over_somebody_elses_change_is_refused(office: Cast, admin_client: Client) -> None:
    office.kyra.refresh_from_db()
    loaded = office.kyra.version
    Agent.objects.filter(pk=office.kyra.pk).update(tagline="Changed meanwhile.")

    answer = save(admin_client, office, version=loaded)

    assert stored(office.kyra) == {}
    assert "somebody else has changed the agent" in str(errors(answer))


@pytest.mark.parametrize(
    "given",
    [
        {"weight_recency": ""},
        {"version": ""},
        {"weight_recency": "-1"},
        {f"weight_{name}": "0" for name in ("semantic", "recency", "importance")}
        | {"weight_continuity": "0", "weight_relation": "0"},
    ],
)
def test_what_cannot_be_saved_is_said(
    given: dict[str, str], office: Cast, admin_client: Client
) -> None:
    answer = save(admin_client, office, **given)

    assert stored(office.kyra) == {}
    assert errors(answer)


def test_only_who_may_edit_agents_saves(
    office: Cast, viewer_client: Client, reviewer_client: Client, admin_client: Client
) -> None:
    for client in (viewer_client, reviewer_client):
        assert save(client, office).status_code == 403
        assert "Save weights" not in ask(client, office).content.decode()
    assert stored(office.kyra) == {}
    assert "Save weights" in ask(admin_client, office).content.decode()


def test_who_belongs_to_no_team_is_refused(office: Cast, sign_in: SignIn) -> None:
    assert sign_in(name="stranger").get(reverse("memory_playground")).status_code == 403
    assert Client().get(reverse("memory_playground")).status_code == 302


def test_a_server_without_a_team_says_so(root_client: Client) -> None:
    page = root_client.get(reverse("memory_playground"))

    assert page.status_code == 200
    assert "There is no team yet." in page.content.decode()


def test_memory_that_is_switched_off_is_said(office: Cast, viewer_client: Client) -> None:
    switch(office, memory=False)

    assert "switched off" in str(errors(ask(viewer_client, office)))
    prompt = ask(viewer_client, office, plan="prompt")
    assert "Lisbon" not in prompt.content.decode()
    assert "switched off" in prompt.content.decode()


def test_the_script_gets_the_answer_alone(office: Cast, viewer_client: Client) -> None:
    fields = {"agent": office.kyra.pk, "plan": "retrieve", "question": QUESTION}
    answer = viewer_client.post(reverse("memory_playground"), fields, **RESULT_ALONE)  # type: ignore[arg-type]

    page = answer.content.decode()
    assert "The office is in Lisbon." in page
    assert "<form" not in page


def test_a_hostile_text_is_only_text(inside: Cast, viewer_client: Client) -> None:
    tell(inside, "The office <script>alert(1)</script> is red.")

    page = ask(viewer_client, inside).content.decode()

    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_the_number_of_queries_does_not_grow_with_the_memories(
    office: Cast, viewer_client: Client, django_assert_max_num_queries: Any
) -> None:
    # Any: pytest-django's own type is private
    ask(viewer_client, office)  # what a process learns once
    tell(office, *(f"The office has a lamp on desk {number}." for number in range(40)))

    with django_assert_max_num_queries(18):
        viewer_client.get(reverse("memory_playground"))
    # Some are asked again after half a minute, on a slow machine within the test.
    with django_assert_max_num_queries(38):
        assert len(lines(ask(viewer_client, office))) > 10


def test_the_menu_leads_there(viewer_client: Client, cast: Cast) -> None:
    page = viewer_client.get(reverse("admin:index")).content.decode()
    assert reverse("memory_playground") in page
