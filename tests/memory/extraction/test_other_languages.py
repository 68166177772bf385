"""Talk in German, Spanish and Japanese: extracted, owned, judged and found in its language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.utils import timezone
from pytest_django import Settings

from memory.domain.audience import Viewer
from memory.domain.types import MemoryType, Status
from memory.models import Memory
from memory.reading import retrieval
from memory.reading.answers import Retrieval
from memory.reading.questions import Question, Read
from memory.understanding.tools import Tools, configured_tools, default_tools
from memory.writing.indexing.message_index import index_waiting
from memory.writing.outcomes import ExtractionCounts
from memory.writing.posting import open_conversation, post_messages
from memory.writing.waiting import extract_now
from teams.models import Team
from teams.services.conversations import NewMessage
from tests.support.cast import Cast
from tests.support.model_extraction import found, proposal
from tests.support.model_judging import judged
from tests.support.openai_server import FakeOpenAI, answer


@dataclass(frozen=True)
class Talk:
    """Statements with the recorded answers of a strong model, and questions about them.

    `values` are what the model quotes of the old and the new statement.
    """

    said: str
    written: str
    confided: str
    confidence: str
    of_team: str
    team_fact: str
    change: str
    changed: str
    values: tuple[str, str]
    question: str
    team_question: str


GERMAN = Talk(
    said="Ich bin Ana und wohne seit März in Hamburg, gleich am Hafen.",
    written="Ana wohnt seit März in Hamburg am Hafen.",
    confided="Unter uns: Ich suche gerade eine neue Stelle.",
    confidence="Ana sucht gerade eine neue Stelle.",
    of_team="Unser Team liefert jeden Dienstag nach dem Mittag aus.",
    team_fact="Das Team liefert jeden Dienstag nach dem Mittag aus.",
    change="Wir sind umgezogen, ich wohne jetzt in Leipzig.",
    changed="Ana wohnt jetzt in Leipzig.",
    values=("in Hamburg", "in Leipzig"),
    question="In welcher Stadt wohnt Ana?",
    team_question="An welchem Tag liefert das Team aus?",
)
SPANISH = Talk(
    said="Soy Ana y vivo en Sevilla desde marzo, cerca del río.",
    written="Ana vive en Sevilla desde marzo, cerca del río.",
    confided="Entre nosotros: estoy buscando otro trabajo.",
    confidence="Ana está buscando otro trabajo.",
    of_team="Nuestro equipo despliega todos los martes después de comer.",
    team_fact="El equipo despliega todos los martes después de comer.",
    change="Nos hemos mudado, ahora vivo en Valencia.",
    changed="Ana vive ahora en Valencia.",
    values=("en Sevilla", "en Valencia"),
    question="¿En qué ciudad vive Ana?",
    team_question="¿Qué día despliega el equipo?",
)
JAPANESE = Talk(
    said="アナです。三月から大阪の川の近くに住んでいます。",
    written="アナは三月から大阪の川の近くに住んでいる。",
    confided="ここだけの話ですが、転職先を探しています。",
    confidence="アナは転職先を探している。",
    of_team="うちのチームは毎週火曜日の昼過ぎにデプロイします。",
    team_fact="チームは毎週火曜日の昼過ぎにデプロイする。",
    change="引っ越しました。今は京都に住んでいます。",
    changed="アナは今、京都に住んでいる。",
    values=("大阪", "京都"),
    question="アナはどこの町に住んでいますか？",
    team_question="チームはいつデプロイしますか？",
)
LANGUAGES = pytest.mark.parametrize(
    "talk", [GERMAN, SPANISH, JAPANESE], ids=["german", "spanish", "japanese"]
)


@pytest.fixture
def server(settings: Settings) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = fake.base_url, "key"
        settings.EXTRACTION_MODEL = settings.JUDGE_MODEL = "strong"
        yield fake


def hear(viewer: Viewer, *texts: str, tools: Tools) -> ExtractionCounts:
    """Posts what the person says and extracts it; returns the counts."""
    conversation, _ = open_conversation(team_id=viewer.team_id, agent="kyra", user="sarah")
    post_messages(
        viewer=viewer,
        conversation_id=conversation.pk,
        messages=[NewMessage(role="user", content=text) for text in texts],
        now=timezone.now(),
    )
    counts = extract_now(viewer=viewer, conversation_id=conversation.pk, tools=tools)
    index_waiting(tools=tools, most=100)
    return counts


def search(viewer: Viewer, text: str, tools: Tools) -> Retrieval:
    """Returns the results, the best first."""
    read = Read(viewer=viewer, question=Question(text), tools=tools, now=timezone.now(), limit=5)
    return retrieval.search(read)


@LANGUAGES
def test_a_model_extracts_owns_judges_and_finds_it(
    acme: Cast, viewer: Viewer, server: FakeOpenAI, talk: Talk
) -> None:
    Team.objects.filter(pk=acme.team.pk).update(
        feature_flags={"team_facts": True}, person_role="member"
    )
    tools = configured_tools()
    plain = {"category": "none", "subject": ""}
    server.will(
        found(
            proposal(content=talk.written, messages=[1], **plain),
            proposal(content=talk.confidence, messages=[2], audience="agent", **plain),
            proposal(content=talk.team_fact, messages=[3], audience="team", **plain),
        ),
        found(),
    )
    counts = hear(viewer, talk.said, talk.confided, talk.of_team, tools=tools)
    assert (counts.created, counts.refused) == (3, {})
    owners = {each.content: each for each in Memory.objects.all()}
    assert owners[talk.written].end_user_id == acme.sarah.pk
    assert owners[talk.confidence].memory_type == MemoryType.AGENT_PRIVATE
    assert owners[talk.team_fact].end_user_id is None

    older, newer = talk.values
    server.will(
        found(proposal(content=talk.changed, messages=[1], **plain)),
        found(),
        answer({"judgements": [judged("supersede", 1, "moved", 0.95, older, newer)]}),
    )
    hear(viewer, talk.change, tools=tools)

    assert Memory.objects.get(content=talk.written).status == Status.SUPERSEDED
    for question, told in ((talk.question, talk.changed), (talk.team_question, talk.team_fact)):
        assert search(viewer, question, tools).memories[0].memory.content == told


@LANGUAGES
def test_without_a_model_it_is_refused_by_name_and_its_messages_are_found(
    acme: Cast, viewer: Viewer, talk: Talk
) -> None:
    tools = default_tools()

    counts = hear(viewer, talk.said, talk.confided, talk.of_team, talk.change, tools=tools)

    assert not Memory.objects.exists()
    assert counts.refused["not English"] >= 4
    assert search(viewer, talk.team_question, tools).messages[0].text == talk.of_team
