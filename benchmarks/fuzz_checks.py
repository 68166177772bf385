"""A check of `make fuzz`: what the schema allows is refused only for what no schema can say.

Schemathesis loads it, in its own environment: nothing of the project is imported here.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator

import schemathesis
from schemathesis.core.failures import Failure

# Rules between two values, or between a value and what the server has stored or sent before: the
# operation, and the whole beginning of what its 422 says. Every rule is as narrow as its message.
BEYOND_SCHEMAS = (
    (r"POST /v1/chat/completions", r"messages\[\d+\]\.content: A message of the role \w+ needs "),
    (r"POST /v1/chat/completions", r"messages\[\d+\]\.content\[\d+\]\.text: Send a text\."),
    (r"GET .*", r"cursor: This is no cursor of this list\."),
    (r"POST .*", r"Idempotency-Key: This key was sent with another request before;"),
    (r"POST /v1/conversations/[^/]+/compact", r"keep_last: Give either keep_last or max_tokens\."),
    (r"POST /v1/usage", r"cited: Name a memory, here or in ignored\."),
    # Bodies say it by `not`; for the parameters of an address there is no way.
    (r"GET .*", r"\w+: It is another name of \w+: give one\."),
    (r"GET /v1/budget", r"agent: Name an agent of the team\."),
    (
        r"POST /v1/memories(/.*)?",
        r"(\[\d+\]\.)?(corrected_)?content: Send a text, or a form with its payload\.",
    ),
    # Which fields a payload has is a matter of the form beside it.
    (r"POST /v1/memories(/.*)?", r"(\[\d+\]\.)?payload\.[\w.\[\]]+: There is no such field;"),
    (
        r"POST /v1/memories(/.*)?",
        r"(\[\d+\]\.)?payload: A memory of the form \w+ needs its payload\.",
    ),
    (r"POST /v1/memories(/.*)?", r"(\[\d+\]\.)?form: Name the form of the payload\."),
    (r"POST /v1/memories(/.*)?", r"(\[\d+\]\.)?form: A memory of the form \w+ is of a project"),
    (r"DELETE /v1/users/[^/]+", r"confirmation: This confirms nothing here\."),
    (r"POST /v1/tasks/[^/]+/items", r"\w+: This kind (has no such field|needs it)\."),
    (
        r"POST /v1/(context/(assemble|predict)|memories/[^/]+/feedback|usage)",
        r"(work\.)?file_opened: Give at least one signal: ",
    ),
    (r"(GET|POST) /v1/.*", r"thread_id: Give the user whose thread it is\."),
    (r"POST /v1/.*", r"thread_id: Give either conversation or thread_id\."),
    (
        r"POST /v1/contradictions/[^/]+/resolve",
        r"merged_content: Say what the merged memory ",
    ),
    (r"PATCH /v1/memories/[^/]+", r"Name a scope or a memory_type to change it to\."),
    (r"PATCH /v1/memories/[^/]+", r"(user|project): Name the scope that it is for\."),
    (r"(POST|PUT) /v1/.*", r"agent: There is no agent '.*', and a new one is called by one word "),
    (r"POST /v1/contradictions/[^/]+/resolve", r"merged_content: Only a resolution of "),
    # Of filters the schema names the fields, not what each may be compared with.
    (
        r"POST /v1/.*",
        r"(\w+\.)*filters.*?: (Must |Filters may |There is no such operator|'\w+' takes )",
    ),
    (
        r"POST /v1/.*",
        r"(\w+\.)*filters[\w.\[\]]*\.(and|or|not|AND|OR|NOT)\b.*: There is no such field",
    ),
    (r"POST /v1/workflows", r"details\..*: There is no such step\."),
    (r"POST /v1/context/package", r"shares: The shares must not add up to more than 1\."),
    (r"POST /v1/memories(/.*)?", r"(\[\d+\]\.)?user: A memory of scope team belongs to no user"),
    (r"GET /v1/audit/state", r"diff_to: Give a time that is not before `at`\."),
    (r"GET /v1/audit/state", r"at: That is a time to come; "),
    # OpenAPI 3.0 says nothing of an object's keys.
    (
        r"POST /v1/workflows",
        r"details: (Must not hold control characters|This field may not be blank)\.",
    ),
    (r"PUT /v1/threads/[^/]+/checkpoints/[^/]+", r"channels: At most 1000 printable names "),
    (r"PUT /v1/agents/[^/]+", r"(personality|rules): The names of words of its own have 1 to "),
    (r"PUT /v1/agents/[^/]+", r"skills\.(shared|custom)\..*?\.name: "),
    # A value with commas is a list by itself.
    (r"GET /v1/.*", r"\w+: Send at most 20, not \d+\."),
    (r"POST /v1/(team|projects/[^/]+)/clear", r"name: Type the name of the "),
    (r"PUT /v1/agents/[^/]+", r"[\w.]+: The weights must not all be zero\."),
    (r"GET /v1/events/counts", r"from: Ask for at most 366 days at a time\."),
    (r"POST /v1/memories", r"([\w.]+\.)?valid_to: Must not be before valid_from\."),
    (r"POST /v1/memories/[^/]+/correct", r"payload: This memory has the form \w+: send the form "),
    (r"POST /v1/conversations/[^/]+/messages", r"messages\[\d+\]\.created_at: Must not lie more "),
    # Texts whose own form no schema says: JSON in a parameter, base64, a file, an address.
    (r"GET /v1/checkpoints", r"metadata: Must be a JSON object\."),
    (
        r"(PUT|POST) /v1/threads/[^/]+/checkpoints/.*",
        r"(values|writes)\[\d+\]\.value: Must be base64",
    ),
    (r"POST /v1/threads/[^/]+/copy", r"target_id: Name another thread\."),
    (
        r"POST /v1/items(/query)?",
        r"\w+\[\d+\]\.(namespace|prefix|suffix): Labels have no dots and no control ",
    ),
    (r"POST /v1/imports", r"(format: )?The (file|archive) "),
    (r"(POST|PATCH) /v1/webhooks(/[^/]+)?", r"url: It must (look like|be an address in plain) "),
)
# What differs between refusals of one kind, which are told once.
_VALUES = re.compile(r"\d+|'.*'")
_RULES = tuple((re.compile(where), re.compile(said, re.DOTALL)) for where, said in BEYOND_SCHEMAS)


def _values_of(name: str, sent: object) -> Iterator[str]:
    """Every text below a field of this name; the texts that are names of its keys as well."""
    if isinstance(sent, dict):
        for key, value in sent.items():
            if key == name:
                yield json.dumps(value, ensure_ascii=False, default=str)
            else:
                yield from _values_of(name, value)
    elif isinstance(sent, list):
        for each in sent:
            yield from _values_of(name, each)


def _has_unassigned_signs(case, detail: str) -> bool:  # type: ignore[no-untyped-def]
    """Whether a sign of the refused field is of no category that a schema names.

    Schemathesis draws the marks of `\\p{M}` by their blocks, which have places without a sign.
    """
    field = re.split(r"[.\[]", detail.partition(":")[0])
    sent = [case.body, dict(case.query or {}), dict(case.path_parameters or {})]
    texts = (text for name in field for text in _values_of(name, sent))
    return any(unicodedata.category(sign) == "Cn" for text in texts for sign in text)


class RefusedWithoutRule(Failure):  # type: ignore[misc]
    """A request that the schema allows was refused."""


@schemathesis.check  # type: ignore[untyped-decorator]
def refuses_by_schema(_, response, case) -> None:  # type: ignore[no-untyped-def]
    """A 422 for a request that the schema allows names one of these rules."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code != 422:
        return
    detail = str(response.json().get("detail", ""))
    operation = case.operation.label
    if "Must not hold control characters." in detail and _has_unassigned_signs(case, detail):
        return
    if not any(where.fullmatch(operation) and said.match(detail) for where, said in _RULES):
        raise RefusedWithoutRule(
            operation=operation,
            title=f"Schema-valid request refused: {_VALUES.sub('', detail)[:80]}",
            message=f"No rule of BEYOND_SCHEMAS: {detail}",
        )
