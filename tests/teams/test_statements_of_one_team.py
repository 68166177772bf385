"""Every statement on the two walks of ARCHITECTURE.md, planned: each keeps to one team.

Citus sends a statement to one server where each table of teams in it has an equality of its
distribution column with a constant; the policies' own condition is no such equality. The plans are
made as the owner, for whom there are no policies, of the texts for a distributed database.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections

from audit.models import MemoryLog
from audit.services.verification import verify_team
from memory.models import Job, Memory, MessageEntry, SearchEntry
from memory.understanding.tools import default_tools
from memory.writing.indexing.message_index import finish_indexing
from memory.writing.pipeline import run_job
from teams.distribution import Place, distribution_column, read_schema, statements
from teams.ids import new_id
from teams.prepared import Reader, run_prepared
from teams.replicas import reading_from
from teams.tenancy import team_scope
from tests.support.cast import Cast, make_cast

# A statement as it was sent, its parameters, and whether these are numbered.
Sent = tuple[str, Any, bool]
_QUESTION = {"query": "Where does Zanzibaria live?", "agent": "kyra"}
_CONDITIONS = ("Index Cond", "Recheck Cond", "Filter")
# What is no part of the walks, to see that it is found.
_WITHOUT_TEAM: list[Sent] = [
    ("SELECT FROM teams_agent a JOIN teams_project p ON p.team_id = a.team_id", [], True),
    ("UPDATE teams_conversation SET revision = 1 WHERE id = $1", [UUID(int=1)], True),
    (
        "INSERT INTO memory_category (team_id) SELECT id FROM unnest($1::uuid[]) AS t (id)",
        [[]],
        True,
    ),
]


@pytest.fixture
def sent(committed_db: None, settings: Any, client_of: Any) -> tuple[Cast, list[Sent]]:
    """A team after both walks, with the functions and policies for Citus, and all that was sent."""
    settings.DATABASE_DISTRIBUTED, settings.DATABASE_PREPARE = True, False
    with connections["owner"].cursor() as cursor:
        for statement in statements(cursor):
            if statement.startswith(("ALTER", "CREATE", "DROP")):
                cursor.execute(statement)
    cast, found = make_cast("acme"), list[Sent]()
    api = client_of(cast)

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        # A statement with numbered parameters comes without a cursor of Django's.
        found.append((str(sql), params[0] if many else params, context["cursor"] is None))
        return execute(sql, params, many, context)

    def send(path: str, **body: Any) -> Any:
        answer = api.post(f"/v1/{path}", body, format="json")
        assert answer.status_code < 300, (path, answer.content)
        return answer.json()

    with connection.execute_wrapper(note):
        opened = send("conversations", agent="kyra", user="sarah", thread_id="t")
        for text in (
            "My sister Zanzibaria moved to Bergen in May.",
            "She moved to Oslo, actually.",
        ):
            message = {"role": "user", "content": text, "external_id": text}
            send(f"conversations/{opened['id']}/messages", messages=[message])
            send(f"conversations/{opened['id']}/extract")
            with team_scope(team_ids=[cast.team.id], actor="test"):
                jobs = list(Job.objects.filter(team=cast.team, state=Job.State.QUEUED))
            for job in jobs:
                run_job(team_id=cast.team.id, job_id=job.pk, tools=default_tools())
            finish_indexing()
        send("memories", agent="kyra", user="sarah", content="Sarah has a cat.")
        for path in ("retrieve", "prompt"):
            assert "Zanzibaria" in json.dumps(send(path, **_QUESTION, user="sarah"))
            send(path, **_QUESTION)
    return cast, found


def plan_of(statement: Sent) -> dict[str, Any]:
    text, parameters, is_numbered = statement
    explain = f"EXPLAIN (FORMAT JSON) {text}"
    if is_numbered:
        ((plan,),) = run_prepared(explain, parameters, prepare=False)
    else:
        with connection.cursor() as cursor:
            cursor.execute(explain, parameters)
            ((plan,),) = cursor.fetchall()
    found: dict[str, Any] = (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]
    return found


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def names_the_team(node: dict[str, Any], *, column: str, team_id: UUID) -> bool:
    """Whether the conditions of a scan, or of the indexes below it, pin it to the team."""
    said = " ".join(
        str(each.get(key, ""))
        for each in nodes(node)
        if each is node or each["Node Type"] in {"Bitmap Index Scan", "BitmapAnd"}
        for key in _CONDITIONS
    )
    return re.search(rf"\b{column} = '{team_id}'::uuid", said) is not None


def test_every_statement_on_the_two_walks_keeps_to_one_team(
    sent: tuple[Cast, list[Sent]],
) -> None:
    cast, walks = sent
    with connection.cursor() as cursor:
        distributed = set(read_schema(cursor).of(Place.DISTRIBUTED))
    distinct = {each[0]: each for each in [*walks, *_WITHOUT_TEAM]}
    met, of_no_team = set[str](), dict[str, list[str]]()

    with reading_from("owner"):
        for text, statement in distinct.items():
            if not re.match(r"(--.*\n|\s)*(SELECT|WITH|INSERT|UPDATE|DELETE)\b", text):
                continue
            pinned, missing = set[str](), set[str]()
            for node in nodes(plan_of(statement)):
                table = node.get("Relation Name")
                if table not in distributed or node["Node Type"] == "ModifyTable":
                    continue
                is_pinned = names_the_team(
                    node, column=distribution_column(table), team_id=cast.team.id
                )
                (pinned if is_pinned else missing).add(table)
            met |= pinned
            # Rows of a function have no team; those that are listed, and those beside a row of the
            # team, do.
            into = re.search(r"\bINSERT INTO \"?(\w+)", text)
            if into and into[1] in distributed and not pinned and "VALUES" not in text:
                missing.add(into[1])
            if missing:
                of_no_team[" ".join(text.split())] = sorted(missing)

    assert met >= {
        "teams_message",
        "teams_conversation",
        "memory_memory",
        "memory_searchentry",
        "memory_messageentry",
        "memory_job",
        "memory_memoryrelation",
        "teams_team",
    }
    assert len(distinct) > 60
    assert of_no_team == {
        _WITHOUT_TEAM[0][0]: ["teams_agent", "teams_project"],
        _WITHOUT_TEAM[1][0]: ["teams_conversation"],
        _WITHOUT_TEAM[2][0]: ["memory_category"],
    }


def test_functions_and_policies_for_citus_do_as_the_others(sent: tuple[Cast, list[Sent]]) -> None:
    team_id = sent[0].team.id
    nobody = Reader(agent_id=None, end_user_id=None)

    with team_scope(team_ids=[team_id], actor="test"):
        memories = set(Memory.objects.values_list("id", flat=True))
        logged = set(MemoryLog.objects.filter(is_first=True).values_list("memory_id", flat=True))
        entries = MessageEntry.objects.count()
    with team_scope(team_ids=[new_id()], actor="test"):
        strangers = (
            Memory.objects.count(),
            SearchEntry.objects.count(),
            MessageEntry.objects.count(),
        )
    with team_scope(team_ids=[team_id], actor="test", reader=nobody):
        readers = Memory.objects.filter(end_user__isnull=False).count()

    assert len(memories) >= 3
    assert (logged, entries) == (memories, 2)
    assert (strangers, readers) == ((0, 0, 0), 0)
    assert verify_team(team_id=team_id).findings == []
