"""A check of `make fuzz`: what the schema allows is refused only for what no schema can say.

Schemathesis loads it, in its own environment: nothing of the project is imported here.
"""

from __future__ import annotations

import json
import re
import unicodedata
from urllib.parse import unquote

import schemathesis
from schemathesis.core.failures import Failure

# Rules between two values, or between a value and what the server has stored or sent before: the
# operation, and the whole beginning of what its 422 says. Every rule is as narrow as its message.
BEYOND_SCHEMAS = (
    (r"POST /v1/chat/completions", r"messages\[\d+\]\.content: A message of the role \w+ needs "),
    (r"POST /v1/chat/completions", r"messages\[\d+\]\.content\[\d+\]\.text: Send a text\."),
    # An agent's name within it; a tier may follow.
    (r"POST /v1/chat/completions", r"model: Ensure this field has no more than 100 characters\."),
    (r"GET .*", r"cursor: This is no cursor of this list\."),
    (r"POST .*", r"Idempotency-Key: This key was sent with another request before;"),
    (r"POST /v1/conversations/[^/]+/compact", r"keep_last: Give either keep_last or max_tokens\."),
    (r"POST /v1/usage", r"cited: Name a memory, here or in ignored\."),
    # Bodies say it by `not`; for the parameters of an address there is no way.
    (r"GET .*", r"\w+: It is another name of \w+: give one\."),
    (r"GET /v1/budget", r"agent: Name an agent of the team\."),
    (r"(POST|PATCH) /v1/chat-models(/[^/]+)?", r"provider: There is no such provider\."),
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
    (
        r"(POST|PATCH) /v1/memories(/.*)?",
        r"(\[\d+\]\.)?(agent|user|project): A memory of (scope|type) \w+ ",
    ),
    (r"GET /v1/audit/state", r"diff_to: Give a time that is not before `at`\."),
    (r"GET /v1/audit/state", r"at: That is in the future\. "),
    # OpenAPI 3.0 says nothing of an object's keys.
    (
        r"POST /v1/workflows",
        r"details: (Must not hold control characters|This field may not be blank)\.",
    ),
    (r"PUT /v1/threads/[^/]+/checkpoints/[^/]+", r"channels: At most 1000 printable names "),
    (r"PUT /v1/agents/[^/]+", r"(personality|rules): The names of words of its own have 1 to "),
    (r"PUT /v1/agents/[^/]+", r"skills\.(shared|custom)\..*?\.name: "),
    (r"PUT /v1/agents/[^/]+", r"model_config\.[\w.\[\]]+: Must have at most \d decimals\."),
    (r"PUT /v1/agents/[^/]+", r"[\w.\[\]]+: The (skill|tier) '.*' stands there twice"),
    # Of the texts within a JSON object of one's own it says nothing either.
    (r"(GET|POST|PUT) /v1/.*", r"[\w.\[\]]+: Its texts must be valid Unicode without NUL\."),
    # A value with commas is a list by itself.
    (r"GET /v1/.*", r"\w+: Send at most 20, not \d+\."),
    (r"GET /v1/.*", r"\w+\[\d+\]: This field may not be blank\."),
    (r"POST /v1/(team|projects/[^/]+)/clear", r"name: Type the name of the "),
    (r"PUT /v1/agents/[^/]+", r"[\w.]+: The weights must not all be zero\."),
    (r"GET /v1/events/counts", r"from: Ask for at most 366 days at a time\."),
    (r"POST /v1/memories", r"([\w.]+\.)?valid_to: Must not be before valid_from\."),
    (r"POST /v1/memories/[^/]+/correct", r"payload: This memory has the form \w+: send the form "),
    (
        r"POST /v1/(memories|conversations/[^/]+/messages)",
        r"(\w*\[\d+\]\.)?created_at: Must not lie (more|before) ",
    ),
    # Texts whose own form no schema says: JSON in a parameter, base64, a file, an address.
    (r"GET /v1/checkpoints", r"metadata: Must be a JSON object\."),
    (
        r"(PUT|POST) /v1/threads/[^/]+/checkpoints/.*",
        r"(values|writes)\[\d+\]\.value: Must be base64",
    ),
    (r"PUT /v1/threads/[^/]+/checkpoints/[^/]+", r"values: Each is of one of the channels\."),
    (r"POST /v1/threads/[^/]+/copy", r"target_id: Name another thread\."),
    (
        r"POST /v1/items(/query)?",
        r"\w+\[\d+\]\.(namespace|prefix|suffix): Labels have no dots and no control ",
    ),
    (r"POST /v1/imports", r"(format: )?The (file|archive) "),
    (r"POST /v1/imports", r".*: Is not UTF-8 text\."),
    (r"(POST|PATCH) /v1/providers(/[^/]+)?", r"key_variable: Give the name of an environment "),
    (r"(POST|PATCH) /v1/providers(/[^/]+)?", r"name: The team already has a provider of "),
    (
        r"(POST|PATCH) /v1/providers(/[^/]+)?",
        r"base_url: It must (look like|be an address) ",
    ),
    (r"(POST|PATCH) /v1/providers(/[^/]+)?", r"name: Use letters, digits, spaces, "),
    (r"(POST|PATCH) /v1/providers(/[^/]+)?", r"api_key: Enter the API key alone: "),
    (
        r"(POST|PATCH) /v1/providers(/[^/]+)?",
        r"remove_key: Enter a new API key or remove the stored one, not both\.",
    ),
    (r"GET /v1/threads/[^/]+/\w+", r"user: Several threads of this team are called so; "),
    (r"PUT /v1/agents/[^/]+", r"(?s)[\w.]+.*?: Names of fields have 1 to "),
    (r"POST /v1/embeddings", r"dimensions: .* has \d+ dimensions: "),
    (r"POST /v1/embeddings", r"input\[\d+\]: Null characters are not allowed\."),
    (r"POST /v1/imports", r"line \d+: Is not of "),
    (r"PATCH /v1/memories/[^/]+", r"user: A user_profile is about a person: name the user\."),
    (r"POST /v1/tasks/[^/]+/items/[^/]+/promote", r"project: The task belongs to no project: "),
    (r"PUT /v1/agents/[^/]+", r"model_config\.force_tier: It is above max_tier, "),
    (r"PATCH /v1/team", r"\w+_usd: Ensure that there are no more than 12 digits in total\."),
    (r"PATCH /v1/users/[^/]+", r"has_insights: Name what changes: "),
    (r"POST /v1/context/package", r"project: The task belongs to the project "),
    (r"POST /v1/conversations/[^/]+/messages", r"messages\[\d+\]\.source: A message of the role "),
    (r"POST /v1/memories/[^/]+/correct", r"corrected_content: The memory says exactly this\."),
    (r"POST /v1/patterns/learn", r"files: Send each path once\."),
    (
        r"PUT /v1/agents/[^/]+",
        r"slug: There is no agent '.*', and a new one is called by one word ",
    ),
    (r"POST /v1/tasks/[^/]+/items/[^/]+/promote", r"lesson: Only a failure has a lesson\."),
    (r"PUT /v1/agents/[^/]+", r"model_config\.max_tier: No custom tier is as low as that;"),
    (r"(POST|PATCH) /v1/webhooks(/[^/]+)?", r"url: It must (look like|be an address) "),
)
_JSON = "application/json"
# What differs between refusals of one kind, which are told once.
_VALUES = re.compile(r"\d+|'.*'")
_RULES = tuple((re.compile(where), re.compile(said, re.DOTALL)) for where, said in BEYOND_SCHEMAS)


def _is_allowed(case) -> bool:  # type: ignore[no-untyped-def]
    """Returns whether the schema allows the texts of the address and the body.

    Schemathesis calls a few requests valid that are not: it puts spaces before texts, and adds
    fields that it saw in answers.
    """
    operation = case.operation
    path = {name: unquote(str(value)) for name, value in (case.path_parameters or {}).items()}
    given = ((operation.path_parameters, path), (operation.query, case.query or {}))
    texts = [
        (parameter, values[parameter.name])
        for parameters, values in given
        for parameter in parameters
        if isinstance(values.get(parameter.name), str)
        and parameter.raw_schema.get("type") == "string"
    ]
    bodies = [body for body in operation.body if body.media_type == case.media_type == _JSON]
    return all(parameter.is_valid(text) for parameter, text in texts) and (
        not bodies or any(body.is_valid(case.body) for body in bodies)
    )


def _has_unassigned_signs(case) -> bool:  # type: ignore[no-untyped-def]
    """Returns whether the request holds a character that this Python's Unicode lacks."""
    sent = [case.body, dict(case.query or {}), unquote(str(case.path_parameters or ""))]
    text = json.dumps(sent, ensure_ascii=False, default=str)
    return any(unicodedata.category(sign) == "Cn" for sign in text)


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
    if "Must not hold control characters." in detail and _has_unassigned_signs(case):
        return
    is_named = any(where.fullmatch(operation) and said.match(detail) for where, said in _RULES)
    if not is_named and _is_allowed(case):
        raise RefusedWithoutRule(
            operation=operation,
            title=f"Schema-valid request refused: {_VALUES.sub('', detail)[:80]}",
            message=f"No rule of BEYOND_SCHEMAS: {detail}",
        )
