"""A walk through the kernel, run as a program: `python -m tests.support.kernel_story`."""

from __future__ import annotations

from io import StringIO
from typing import Any

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from drf_spectacular.generators import SchemaGenerator  # noqa: E402
from rest_framework.test import APIClient  # noqa: E402

from audit.models import MemoryLog  # noqa: E402
from memory.models import Job, Memory  # noqa: E402
from memory.understanding.tools import default_tools  # noqa: E402
from memory.writing.indexing.message_index import finish_indexing  # noqa: E402
from memory.writing.pipeline import run_job  # noqa: E402
from teams.services.keys import issue_key  # noqa: E402
from teams.tenancy import team_scope  # noqa: E402
from tests.support.cast import Cast, make_cast  # noqa: E402

FACT = "My sister Zanzibaria moved to Bergen in May."
QUESTION = {"query": "Where does Zanzibaria live?", "agent": "kyra"}


def client_of(cast: Cast) -> APIClient:
    """A client with a key of the team."""
    with team_scope(team_ids=[cast.team.id], actor="test"):
        token = issue_key(team_id=cast.team.id).token
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


def send(client: APIClient, path: str, status: int = 200, **body: object) -> Any:
    """The answer to a POST."""
    answer = client.post(f"/v1/{path}", body, format="json")
    assert answer.status_code == status, (path, answer.content)
    return answer.json()


def tell(acme: Cast, api: APIClient) -> None:
    """A message is stored and a memory made of it."""
    opened = send(api, "conversations", 201, agent="kyra", user="sarah", thread_id="t")
    message = {"role": "user", "content": FACT}
    send(api, f"conversations/{opened['id']}/messages", 201, messages=[message])
    send(api, f"conversations/{opened['id']}/extract", 202)
    with team_scope(team_ids=[acme.team.id], actor="test"):
        jobs = list(Job.objects.filter(kind=Job.Kind.EXTRACT))
    assert jobs
    for job in jobs:
        run_job(team_id=acme.team.id, job_id=job.pk, tools=default_tools())
    finish_indexing()


def ask(api: APIClient, user: str) -> str:
    """Returns the answers of retrieval and the prompt to the question of this person."""
    body: dict[str, object] = {**QUESTION, "user": user}
    return "".join(str(send(api, path, 200, **body)) for path in ("retrieve", "prompt"))


def main() -> None:
    """Take every step; an assertion fails where one does not hold."""
    call_command("migrate", verbosity=0)
    call_command("check")
    assert SchemaGenerator().get_schema(request=None, public=True)["paths"]

    acme, globex = make_cast("acme"), make_cast("globex")
    api, strangers = client_of(acme), client_of(globex)
    tell(acme, api)
    with team_scope(team_ids=[acme.team.id], actor="test"):
        memory = Memory.objects.get(content__contains="Zanzibaria")
        assert MemoryLog.objects.filter(memory_id=memory.pk, event="created").exists()

    assert "Bergen" in ask(api, "sarah")
    assert "Bergen" not in ask(api, "dmitri")
    assert "Bergen" not in ask(strangers, "sarah")
    assert strangers.get(f"/v1/memories/{memory.pk}").status_code == 404

    call_command("verify_log", stdout=StringIO())
    first = api.delete("/v1/users/sarah")
    assert first.status_code == 202, first.content
    word = first.json()["confirmation"]
    assert api.delete(f"/v1/users/sarah?confirmation={word}").status_code == 200
    assert "Zanzibaria" not in ask(api, "dmitri")
    with team_scope(team_ids=[acme.team.id], actor="test"):
        memory.refresh_from_db()
    assert memory.content == "[erased]"
    call_command("verify_log", stdout=StringIO())


if __name__ == "__main__":
    main()
