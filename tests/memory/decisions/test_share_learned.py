"""Memories of before are given to the people they are about, after a preview."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from audit.models import MemoryLog
from memory.models import Memory, MessageEntry
from teams.models import Agent, Conversation
from teams.tenancy import team_scope
from tests import factories
from tests.support.cast import Cast


def learned(acme: Cast, *said: str, **fields: object) -> list[Memory]:
    """What Kyra was told by Sarah in one conversation, as memories of its own."""
    with team_scope(team_ids=[acme.team.id], actor="test"):
        talk: Conversation = factories.ConversationFactory.create(
            team=acme.team, agent=acme.kyra, end_user=acme.sarah
        )
        rows = []
        for position, text in enumerate(said, 1):
            message = factories.MessageFactory.create(
                team=acme.team, conversation=talk, position=position, content=text
            )
            given = {
                "agent": acme.kyra,
                "end_user": acme.sarah,
                "scope": "user",
                "extraction_pass": 1,
                **fields,
            }
            rows.append(
                factories.MemoryFactory.create(
                    team=acme.team,
                    content=text,
                    conversation=talk,
                    source_message_ids=[message.pk],
                    **given,
                )
            )
        return rows


def share(*options: str) -> str:
    """What the command says."""
    out = StringIO()
    call_command("share_learned", "--team", "acme", *options, stdout=out)
    return out.getvalue()


def owners(acme: Cast, rows: list[Memory]) -> list[tuple[str, bool]]:
    """Type, and whether an agent has it, of each."""
    with team_scope(team_ids=[acme.team.id], actor="test"):
        found = {row.pk: row for row in Memory.objects.filter(team_id=acme.team.id)}
    return [(found[row.pk].memory_type, found[row.pk].agent_id is not None) for row in rows]


def test_a_preview_changes_nothing(acme: Cast) -> None:
    rows = learned(acme, "The dog is called Rex.")

    said = share()

    assert "The dog is called Rex." in said
    assert "Nothing was changed" in said
    assert owners(acme, rows) == [("semantic", True)]


def test_what_was_learned_becomes_the_persons_with_a_reason(acme: Cast) -> None:
    rows = learned(acme, "The dog is called Rex.", "The car is red.")

    assert "2 for their people" in share("--apply")

    assert owners(acme, rows) == [("semantic", False)] * 2
    with team_scope(team_ids=[acme.team.id], actor="test"):
        entry = MemoryLog.objects.filter(memory_id=rows[0].pk).latest("seq")
        (memory,) = Memory.objects.filter(pk=rows[0].pk)
    assert (entry.actor, entry.reason) == (
        "command:share_learned",
        "what an agent learns of a person belongs to the person",
    )
    assert (memory.end_user_id, memory.scope) == (acme.sarah.pk, "user")
    assert "Of 0 memories" in share("--apply")


def test_what_was_told_in_confidence_becomes_private(acme: Cast) -> None:
    rows = learned(acme, "The new job starts in May.", "Please don't tell the others.")

    assert "0 for their people, 2 told in confidence" in share("--apply")

    assert owners(acme, rows) == [("agent_private", True)] * 2


@pytest.mark.parametrize(
    "fields",
    [
        {"memory_type": "procedural"},
        {"memory_type": "agent_private"},
        {"extraction_pass": None},
        {"status": "superseded"},
    ],
)
def test_what_is_no_shareable_fact_from_talk_stays(acme: Cast, fields: dict[str, object]) -> None:
    learned(acme, "The dog is called Rex.", **fields)

    assert "Of 0 memories" in share("--apply")


def test_an_agent_that_keeps_to_itself_keeps_what_it_knows(acme: Cast) -> None:
    rows = learned(acme, "The dog is called Rex.")
    with team_scope(team_ids=[acme.team.id], actor="test"):
        Agent.objects.filter(pk=acme.kyra.pk).update(keeps_to_itself=True)

    assert "Of 0 memories" in share("--apply")
    assert owners(acme, rows) == [("semantic", True)]


def test_a_memory_of_a_project_stays_in_it(acme: Cast) -> None:
    with team_scope(team_ids=[acme.team.id], actor="test"):
        project = factories.ProjectFactory.create(team=acme.team)
    rows = learned(acme, "The dog is called Rex.", project=project, scope="project")

    share("--apply")

    with team_scope(team_ids=[acme.team.id], actor="test"):
        (memory,) = Memory.objects.filter(pk=rows[0].pk)
    assert (memory.agent_id, memory.end_user_id, memory.project_id, memory.scope) == (
        None,
        acme.sarah.pk,
        project.pk,
        "project",
    )


@pytest.mark.usefixtures("acme")
def test_an_unknown_team_is_told_so() -> None:
    with pytest.raises(CommandError, match="no team 'acmi'"):
        call_command("share_learned", "--team", "acmi")


def test_what_was_said_before_is_found_by_other_agents_but_for_confidences(acme: Cast) -> None:
    question = "Which trains go to Ghent?"
    said = ("The car is red.", "The dog is called Rex.", "Keep that between us.", question)
    talk = learned(acme, *said)[0].conversation
    assert talk is not None
    with team_scope(team_ids=[acme.team.id], actor="test"):
        Conversation.objects.filter(pk=talk.pk).update(last_position=4, extracted_position=4)
        factories.JobFactory.create(
            team=acme.team, conversation=talk, from_position=1, to_position=4, done_position=4
        )

    def shared() -> list[str | None]:
        with team_scope(team_ids=[acme.team.id], actor="test"):
            entries = MessageEntry.objects.filter(conversation=talk).order_by("position")
            return list(entries.values_list("audience", flat=True))

    assert "Of 1 conversations" in share()
    assert shared() == [None] * 4
    share("--apply")
    assert shared() == ["person", "agent", "agent", None]
