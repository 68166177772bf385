"""An import with several speakers: each becomes a user, and each memory is about who said it."""

from __future__ import annotations

from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.talk import other_speakers
from memory.models import Memory
from memory.reading.questions import Depth, Question, Read
from memory.reading.retrieval import search
from memory.understanding.tools import Tools
from memory.writing.indexing.message_index import index_team
from teams.models import EndUser, Message
from tests.support.cast import Cast
from tests.support.importing import run

FACTS = {
    "speaker_a": "Nils",
    "speaker_b": "Mara",
    "session_1_date_time": "4:05 pm on 1 March, 2024",
    "session_1": [
        {"speaker": "Nils", "dia_id": "D1:1", "text": "I am allergic to walnuts."},
        {"speaker": "Mara", "dia_id": "D1:2", "text": "I work as a dentist in Bergen."},
    ],
}


def people() -> set[str]:
    return set(EndUser.objects.values_list("external_id", flat=True)) - {"sarah", "dmitri"}


def owners() -> dict[str, str]:
    """Returns the owner of each memory, by the id of its turn."""
    rows = Memory.objects.select_related("end_user")
    return {row.source_external_ids[0]: str(row.end_user) for row in rows}


def test_both_speakers_become_users_and_again_nothing_changes(acme: Cast, tools: Tools) -> None:
    run(acme, tools, FACTS)
    known, whose = people(), owners()

    again = run(acme, tools, FACTS)

    assert known == {"Nils", "Mara"}
    assert whose == {"D1:1": "Nils", "D1:2": "Mara"}
    assert (again.new_messages, again.new_memories) == (0, 0)
    assert (people(), owners()) == (known, whose)


def test_a_speaker_who_is_the_user_stays_the_user(acme: Cast, tools: Tools) -> None:
    run(acme, tools, FACTS, user="nils")

    assert people() == {"nils", "Mara"}
    assert owners() == {"D1:1": "nils", "D1:2": "Mara"}


def test_a_single_name_is_the_users(acme: Cast, tools: Tools) -> None:
    talk = [{"role": "user", "name": "Sara", "content": "I am allergic to walnuts."}]

    run(acme, tools, talk)

    assert people() == set()
    assert set(owners().values()) == {"sarah"}


def test_each_speaker_finds_their_own_and_the_user_finds_all_that_was_said(
    acme: Cast, tools: Tools
) -> None:
    run(acme, tools, FACTS)
    index_team(team_id=acme.team.id, tools=tools)

    def found(user: str, question: str) -> str:
        person = EndUser.objects.get(external_id=user)
        results = search(
            Read(
                viewer=Viewer(acme.team.id, "test", agent_id=acme.kyra.pk, end_user_id=person.pk),
                question=Question(question),
                depth=Depth(),
                limit=10,
                tools=tools,
                now=timezone.now(),
            )
        )
        texts = [each.memory.content for each in results.memories]
        return " ".join([*texts, *(each.text for each in results.messages)])

    for question, word, speaker, other in (
        ("Who is allergic to walnuts?", "walnuts", "Nils", "Mara"),
        ("Who works as a dentist?", "dentist", "Mara", "Nils"),
    ):
        assert word in found(speaker, question)
        assert word not in found(other, question)
        assert word in found("sarah", question)


def test_talk_posted_with_names_is_the_users_unless_the_names_are_users(
    acme: Cast, tools: Tools
) -> None:
    talk = [
        {"role": "user", "name": "sarah", "content": "I am allergic to walnuts."},
        {"role": "user", "name": "dmitri", "content": "I work as a dentist in Bergen."},
    ]
    run(acme, tools, talk)

    assert Message.objects.count() == 2
    assert owners() == {"position-1": "sarah", "position-2": "dmitri"}


def test_other_speakers_are_told_from_the_user_by_any_of_their_names() -> None:
    assert other_speakers(["Ann", "bo", "Bo", " Cy "], user=["a-1", "ANN"]) == ("bo", "Cy")
    assert other_speakers(["Ann", "", " "], user=["a-1"]) == ()
