"""Agents' documents in the admin: a form or JSON, held to the API's rules, nothing overwritten."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memory.models import Category
from teams.domain.agent_document import AgentDocument
from teams.models import Agent, AgentVersion
from teams.services.agents import columns_of
from teams.services.people import agent_called
from teams.tenancy import team_scope
from tests.support.admin import agent_form
from tests.support.agent_documents import WHOLE
from tests.support.cast import Cast

TIERS = "model_config__custom_tiers"
WEIGHTS = "memory_config__retrieval_weights"
SHARES = "memory_config__context_policy__shares"
CATEGORIES = "memory_config__allowed_categories"


def page(cast: Cast) -> str:
    """Kyra's page."""
    return reverse("admin:teams_agent_change", args=[cast.kyra.pk])


def stored(cast: Cast) -> Agent:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        return Agent.objects.get(pk=cast.kyra.pk)


def give(cast: Cast, **columns: object) -> None:
    """Kyra gets these columns, by SQL."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        Agent.objects.filter(pk=cast.kyra.pk).update(**columns)


def as_shown(client: Client, url: str) -> dict[str, Any]:
    """Returns the form data that a browser would send for the page as it was loaded."""
    form = client.get(url).context["adminform"].form
    sent: dict[str, Any] = {}
    for name in form.fields:
        value = form[name].value()
        columns = getattr(form.fields[name].widget, "columns", ())
        if len(columns) > 1:
            sent |= {f"{name}_{each.name}": [] for each in columns}
            for row in value:
                for column, text in zip(columns, row, strict=True):
                    sent[f"{name}_{column.name}"].append(text)
        elif columns:
            sent[name] = ["", *(text for (text,) in value)]
        elif value is not None:
            sent[name] = value
    return sent


def test_a_change_leaves_a_version_with_who_and_why(cast: Cast, admin_client: Client) -> None:
    form = agent_form(None, name="Kyra", rules__never=["Guess.", ""], reason="a complaint")

    answer = admin_client.post(page(cast), {**form, "loaded_version": 1})

    assert answer.status_code == 302
    assert stored(cast).rules == {"never": ["Guess."]}
    with team_scope(team_ids=[cast.team.id], actor="test"):
        version = AgentVersion.objects.get(agent=cast.kyra, number=2)
    assert (version.actor, version.reason) == ("staff:ann", "a complaint")
    shown = admin_client.get(page(cast)).content.decode()
    assert "ann (staff)" in shown
    assert "rules › never" in shown
    assert "a complaint" in shown
    assert reverse("admin:teams_agentversion_change", args=[version.pk]) in shown


def test_each_part_of_the_document_has_its_fields(cast: Cast, admin_client: Client) -> None:
    answer = admin_client.post(
        page(cast),
        agent_form(
            None,
            name="Kyra",
            tagline="a research assistant",
            personality__traits=["Curious", "Patient"],
            personality__tone="warm",
            personality__verbosity="brief",
            personality__formality="casual",
            personality__voice_examples=["Here is what I found."],
            personality__custom_instructions="Cite sources.\n\nThen stop.",
            personality__own_name=["response_length"],
            personality__own_text=["short"],
            rules__always=["Quote figures."],
            rules__never=["Guess."],
            skills__shared_name=["search", "code-review"],
            skills__shared_description=["", "reads diffs"],
            skills__custom_name=["charts", ""],
            skills__custom_description=["draws", ""],
            skills__disabled=["code-review"],
            model_config__model_name="openai/gpt-4o",
            model_config__max_tier="balanced",
            model_config__custom_tiers_name=["fast"],
            model_config__custom_tiers_model_name=["small"],
            model_config__custom_tiers_cost_per_1k_input=["0.0008"],
            model_config__custom_tiers_cost_per_1k_output=["0.004"],
            model_config__daily_budget_usd="2.5",
            memory_config__retrieval_weights__semantic="0.7",
            memory_config__token_budget=1500,
            memory_config__keeps_to_itself="on",
            memory_config__context_policy__shares__task="0.5",
            memory_config__context_policy__shares__global="0.25",
            memory_config__context_policy__head_tail_preserve=2,
        ),
    )

    assert answer.status_code == 302
    agent = stored(cast)
    assert agent.tagline == "a research assistant"
    assert agent.personality == {
        **WHOLE["personality"],
        "custom_instructions": "Cite sources.\r\n\r\nThen stop.".replace("\r", ""),
    }
    assert agent.rules == {"always": ["Quote figures."], "never": ["Guess."]}
    assert agent.skills == WHOLE["skills"]
    assert agent.model_config == WHOLE["model_config"]
    assert agent.retrieval_weights == {"semantic": 0.7}
    assert (agent.token_budget, agent.keeps_to_itself) == (1500, True)
    assert agent.context_policy == WHOLE["memory_config"]["context_policy"]


def test_saving_the_page_as_it_is_changes_nothing(cast: Cast, admin_client: Client) -> None:
    give(cast, **columns_of(AgentDocument.read(WHOLE)))
    before = stored(cast)

    answer = admin_client.post(page(cast), as_shown(admin_client, page(cast)))

    assert answer.status_code == 302
    after = stored(cast)
    assert after.version == before.version
    assert columns_of(AgentDocument.read(WHOLE)).items() <= vars(after).items()


def test_what_the_form_does_not_show_stays_beside_what_it_changes(
    cast: Cast, admin_client: Client
) -> None:
    give(
        cast,
        personality={"traits": ["Curious"], "humour": "dry", "loves": ["maps", "trains"]},
        rules={"never": ["Guess."], "when_unsure": ["Ask."]},
    )

    sent = {**as_shown(admin_client, page(cast)), "personality__traits": [""]}
    sent["rules__never"] = ["Guess.", "Lie."]
    answer = admin_client.post(page(cast), sent)

    assert answer.status_code == 302
    assert stored(cast).personality == {"humour": "dry", "loves": ["maps", "trains"]}
    assert stored(cast).rules == {"when_unsure": ["Ask."], "never": ["Guess.", "Lie."]}


def test_the_document_may_be_written_as_json(cast: Cast, admin_client: Client) -> None:
    given = {"name": "Kyra", "rules": {"never": "Guess."}, "slug": "kyra", "version": 7}

    answer = admin_client.post(
        page(cast), agent_form(None, name="Kyra", document=json.dumps(given), loaded_version=1)
    )

    assert answer.status_code == 302
    assert stored(cast).rules == {"never": ["Guess."]}
    assert stored(cast).version == 2


def test_form_and_json_are_not_changed_at_once(cast: Cast, admin_client: Client) -> None:
    sent = as_shown(admin_client, page(cast))
    document = {**json.loads(sent["document"]), "tagline": "by JSON"}

    answer = admin_client.post(
        page(cast), {**sent, "document": json.dumps(document), "rules__never": ["Guess."]}
    )

    assert answer.status_code == 200
    assert "You changed both the JSON and the form (never)" in answer.content.decode()
    assert stored(cast).version == 1


def test_what_somebody_changed_meanwhile_is_not_overwritten(
    cast: Cast, admin_client: Client
) -> None:
    give(cast, tagline="by the API")

    answer = admin_client.post(page(cast), agent_form(None, name="Mine", loaded_version=1))

    assert answer.status_code == 200
    assert "(version 1; the latest is 2)" in answer.content.decode()
    assert (stored(cast).name, stored(cast).tagline) == ("Kyra", "by the API")


@pytest.mark.parametrize(
    ("values", "field", "said"),
    [
        ({"name": ""}, "name", "It is missing"),
        ({f"{TIERS}_name": ["fast"]}, TIERS, "row 1, model_name: It is missing"),
        ({f"{WEIGHTS}__semantic": "-1"}, f"{WEIGHTS}__semantic", "greater than or equal to 0"),
        (
            {"personality__traits": ["a", "x" * 2001]},
            "personality__traits",
            "row 2: It has 2001 characters",
        ),
        (
            {"memory_config__token_budget": "50"},
            "memory_config__token_budget",
            "Must be at least 100",
        ),
        (
            {f"{SHARES}__task": "0.7", f"{SHARES}__project": "0.4"},
            f"{SHARES}__task",
            "not add up to more than 1",
        ),
        ({f"{SHARES}__global": "2"}, f"{SHARES}__global", "Must be at most 1"),
        ({"skills__custom_description": ["b"]}, "skills__custom", "row 1, name: It is missing"),
        (
            {"model_config__force_tier": "powerful", "model_config__max_tier": "fast"},
            "model_config__force_tier",
            "It is above max_tier",
        ),
        (
            {"model_config__daily_budget_usd": "-1"},
            "model_config__daily_budget_usd",
            "Must be at least 0",
        ),
        ({"document": '{"skills": {"own": []}}'}, "document", "skills.own: There is no such field"),
        ({"document": '{"rule": {}}'}, "document", "rule: There is no such field"),
        ({"document": '{"memory_config": 1}'}, "document", "memory_config: Must be an object"),
        ({"document": "[1]"}, "document", "Must be an object"),
        ({"document": "{nonsense"}, "document", "Enter a valid JSON"),
    ],
)
def test_a_document_is_held_to_the_rules_of_the_api(
    values: dict[str, object], field: str, said: str, cast: Cast, admin_client: Client
) -> None:
    sent = agent_form(None, name="Kyra")
    if f"{TIERS}_name" in values:
        prices = ("model_name", "cost_per_1k_input", "cost_per_1k_output")
        values |= {f"{TIERS}_{each}": [""] for each in prices}
    if "skills__custom_description" in values:
        values |= {"skills__custom_name": [""]}

    answer = admin_client.post(page(cast), {**sent, **values})

    assert answer.status_code == 200
    form = answer.context["adminform"].form
    assert said in " ".join(form.errors[field])
    assert stored(cast).version == 1


def test_a_part_older_than_the_rules_does_not_stand_in_the_way(
    cast: Cast, admin_client: Client
) -> None:
    give(cast, skills={"maps": "draws them"}, personality="loud", allowed_categories="all")

    sent = {**as_shown(admin_client, page(cast)), "name": "Kyra II"}
    answer = admin_client.post(page(cast), sent)

    assert answer.status_code == 302
    assert (stored(cast).name, stored(cast).skills) == ("Kyra II", {"maps": "draws them"})
    assert stored(cast).personality == "loud"


def test_categories_are_chosen_from_those_of_the_team(
    cast: Cast, others: Cast, admin_client: Client
) -> None:
    for whose, name in ((cast, "profile"), (cast, "goals"), (others, "secret")):
        with team_scope(team_ids=[whose.team.id], actor="test"):
            Category.objects.create(team=whose.team, name=name)
    give(cast, allowed_categories=["tasks"])

    shown = admin_client.get(page(cast))
    sent = as_shown(admin_client, page(cast))
    chosen = admin_client.post(page(cast), {**sent, CATEGORIES: ["profile", "tasks"]})
    wrong = admin_client.post(page(cast), {**sent, CATEGORIES: ["profle"]})

    labels = dict(shown.context["adminform"].form.fields[CATEGORIES].choices)
    assert labels == {
        "goals": "goals",
        "profile": "profile",
        "tasks": "tasks (not a category of the team)",
    }
    assert "secret" not in shown.content.decode()
    assert chosen.status_code == 302
    assert stored(cast).allowed_categories == ["profile", "tasks"]
    assert wrong.status_code == 200


def test_a_category_that_the_team_does_not_have_is_refused_in_json_too(
    cast: Cast, admin_client: Client
) -> None:
    with team_scope(team_ids=[cast.team.id], actor="test"):
        Category.objects.create(team=cast.team, name="profile")
    document = {"name": "Kyra", "memory_config": {"allowed_categories": ["profle"]}}

    answer = admin_client.post(
        page(cast), agent_form(None, name="Kyra", document=json.dumps(document))
    )

    errors = answer.context["adminform"].form.errors["document"]
    assert "There is no category 'profle'; known are: profile." in " ".join(errors)
    assert stored(cast).allowed_categories == []


def test_versions_are_read_and_never_changed(
    cast: Cast, others: Cast, admin_client: Client
) -> None:
    with team_scope(team_ids=[cast.team.id, others.team.id], actor="test"):
        Agent.objects.filter(pk=cast.kyra.pk).update(tagline="<script>alert('x')</script>")
        own = AgentVersion.objects.get(agent=cast.kyra, number=2)
        foreign = AgentVersion.objects.get(agent=others.kyra, number=1)
    url = reverse("admin:teams_agentversion_change", args=[own.pk])

    listed = admin_client.get(reverse("admin:teams_agentversion_changelist"))
    shown = admin_client.get(url)
    hidden = admin_client.get(reverse("admin:teams_agentversion_change", args=[foreign.pk]))

    assert listed.context["cl"].result_count == 3
    assert "tagline" in shown.content.decode()
    assert "<script>alert('x')" not in shown.content.decode()
    assert hidden.status_code == 404
    assert admin_client.post(url, {"actor": "nobody"}).status_code == 403
    assert admin_client.get(reverse("admin:teams_agentversion_add")).status_code == 403


def test_who_may_only_look_reads_the_document_in_words(cast: Cast, viewer_client: Client) -> None:
    give(cast, rules={"never": ["Guess."]}, personality={"tone": "<b>warm</b>"})

    shown = viewer_client.get(page(cast)).content.decode()

    assert "latest versions" in shown.lower()
    assert "loaded_version" not in shown
    assert "<li>Guess.</li>" in shown
    assert "&lt;b&gt;warm" in shown
    assert "{&quot;" not in shown


def test_the_slug_stays_and_aliases_are_edited(cast: Cast, admin_client: Client) -> None:
    sent = as_shown(admin_client, page(cast))
    answer = admin_client.post(page(cast), {**sent, "slug": "nova", "aliases": ["old", ""]})
    taken = admin_client.post(page(cast), {**sent, "aliases": ["luke"]})
    shown = admin_client.get(page(cast))
    new = admin_client.post(
        reverse("admin:teams_agent_add"), agent_form(cast.team, slug="old", name="Old")
    )
    again = admin_client.post(reverse("admin:teams_agent_add"), agent_form(cast.team, slug="luke"))

    assert answer.status_code == 302
    assert stored(cast).slug == "kyra"
    assert shown.context["adminform"].form.initial["aliases"] == ["old"]
    assert "an agent called 'luke' already" in taken.content.decode().replace("&#x27;", "'")
    said = " ".join(new.context["adminform"].form.errors["slug"])
    assert said == "The agent 'kyra' has this name as an alias."
    assert again.context["adminform"].form.errors == {
        "slug": ["The team already has an agent with this slug."]
    }


def test_a_new_agent_may_have_aliases_and_a_document(cast: Cast, admin_client: Client) -> None:
    answer = admin_client.post(
        reverse("admin:teams_agent_add"),
        agent_form(cast.team, personality__traits=["Curious"], aliases=["mi"], reason="hired"),
    )

    assert answer.status_code == 302
    with team_scope(team_ids=[cast.team.id], actor="test"):
        mira = agent_called(team_id=cast.team.id, name="mi")
        assert mira is not None
        version = AgentVersion.objects.get(agent=mira)
    assert (mira.slug, mira.personality) == ("mira", {"traits": ["Curious"]})
    assert (version.actor, version.reason) == ("staff:ann", "hired")
