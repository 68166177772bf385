"""Payloads become texts, words to be found by and lines to be read, and keep no secret."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.forms import (
    ArtifactKind,
    ArtifactQuery,
    Form,
    Payload,
    labelled,
    masked,
    rendered,
    searched_text,
    texts_of,
)
from memory.domain.secrets import MASK
from tests.support.forms import EXAMPLES, payloads

_WORD = re.compile(r"\w+")


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (Form.FACT, "error_handling: Result<T,E> over try-catch (typescript)"),
        (
            Form.EPISODE,
            "Auth refactor: Sessions replaced JWT because of the size of tokens."
            " (commit 4f2a9c0, adr ADR-012)",
        ),
        (Form.PATTERN, "new_endpoint: endpoint: route→zod→result→json (typescript)"),
        (Form.WORKFLOW, "deploy_request: test → build → prod"),
        (Form.DECISION, "We use PostgreSQL for billing."),
        (Form.CONVENTION, "Name tests after behaviour. (tests)"),
        (Form.FAILURE, "TimeoutError in checkout: Raise the pool before the sale."),
    ],
)
def test_the_text_of_a_payload_is_made_of_its_words(form: Form, text: str) -> None:
    assert rendered(form, EXAMPLES[form]) == text


def test_a_pattern_without_a_hint_reads_as_its_template() -> None:
    payload = {"trigger": "new_endpoint", "template": {"route": "{method} /api", "reply": "json"}}

    assert rendered(Form.PATTERN, payload) == "new_endpoint: route: {method} /api, reply: json"


@given(payloads())
def test_no_text_has_a_word_that_its_payload_has_not(given_one: tuple[Form, Payload]) -> None:
    form, payload = given_one
    words = set(_WORD.findall(" ".join([*texts_of(payload), *payload])))

    assert set(_WORD.findall(rendered(form, payload))) <= words


@given(payloads())
def test_every_word_of_text_and_payload_is_searched(given_one: tuple[Form, Payload]) -> None:
    _, payload = given_one

    text = searched_text("Stated in other words.", payload)

    assert text.startswith("Stated in other words.")
    assert all(each in text for each in texts_of(payload))


def test_a_path_is_found_by_its_parts() -> None:
    text = searched_text("Login.", {"artifacts": [{"kind": "file", "ref": "src/auth/log_in.ts"}]})

    assert {"src", "auth", "log", "in", "log_in.ts", "src/auth/log_in.ts"} <= set(text.split())


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        ({"key": "db_password", "value": "hunter2"}, "value"),
        ({"key": "login", "value": "my password is hunter2"}, "value"),
        ({"trigger": "deploy", "steps": ["run with API_KEY=hunter2x9"]}, "steps"),
        ({"trigger": "deploy", "steps": ["a"], "details": {"a": "DB_PASSWORD=hunter2"}}, "details"),
        ({"trigger": "deploy", "steps": ["a"], "details": {"db_password": "hunter2"}}, "details"),
        ({"trigger": "env", "template": {"API_KEY": "hunter2x9"}}, "template"),
        ({"title": "x", "artifacts": [{"kind": "pr", "ref": "token=hunter2x9"}]}, "artifacts"),
    ],
)
def test_secrets_are_masked_wherever_they_stand_in_a_payload(payload: Payload, name: str) -> None:
    safe = masked(payload)

    assert "hunter2" not in str(safe)
    assert MASK in str(safe[name])


@pytest.mark.parametrize("form", Form)
def test_what_holds_no_secret_stays_as_it_is(form: Form) -> None:
    assert masked(EXAMPLES[form]) == EXAMPLES[form]


def test_people_read_each_part_by_its_name() -> None:
    assert labelled(EXAMPLES[Form.EPISODE]) == [
        ("Title", "Auth refactor"),
        ("Narrative", "Sessions replaced JWT because of the size of tokens."),
        ("Artifacts", "commit 4f2a9c0, adr ADR-012, file src/auth/login.ts"),
    ]
    assert ("Steps", "test → build → prod") in labelled(EXAMPLES[Form.WORKFLOW])


def test_artifacts_are_asked_for_by_kind_and_ref() -> None:
    assert ArtifactQuery.parse("commit") == ArtifactQuery(ArtifactKind.COMMIT)
    assert ArtifactQuery.parse("file:C:/a.py") == ArtifactQuery(ArtifactKind.FILE, "C:/a.py")


@pytest.mark.parametrize("text", ["", "ADR-012", "branch:main", "file:", "file: ", "Commit"])
def test_other_artifacts_are_refused_with_what_is_known(text: str) -> None:
    with pytest.raises(ValueError, match="commit, pr, adr, file"):
        ArtifactQuery.parse(text)


@given(st.sampled_from(ArtifactKind), st.text(min_size=1).filter(lambda ref: ref == ref.strip()))
def test_an_artifact_query_is_read_as_it_is_written(kind: ArtifactKind, ref: str) -> None:
    assert ArtifactQuery.parse(f"{kind}:{ref}") == ArtifactQuery(kind, ref)
