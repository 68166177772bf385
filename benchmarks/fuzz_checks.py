"""A check of `make fuzz`: what the schema allows is refused only for what no schema can say.

Schemathesis loads it, in its own environment: nothing of the project is imported here.
"""

from __future__ import annotations

import re

import schemathesis
from schemathesis.core.failures import Failure

# Rules between two values, or between a value and what the server has stored or sent before.
BEYOND_SCHEMAS = (
    # Objects say it by additionalProperties; for the parameters of an address there is no way.
    r"There is no such field; known are",
    r"^messages: Send a list of at least one message",
    r"^cursor: This is no cursor of this list",
    r"^Idempotency-Key: This key was sent with another request before",
    r"^keep_last: Give either keep_last or max_tokens",
    r"^cited: Name a memory, here or in ignored",
    r"^\w+: It is another name of \w+: give one",
    r"^agent: Name an agent of the team",
    r"^content: Send a text, or a form with its payload",
    r"^(payload|form): (A memory of the form|Name the form)",
    r"^confirmation: This confirms nothing here",
    r"^\w+: This kind has no such field",
    r"Give at least one signal",
    r"^thread_id: Give the user whose thread it is",
    r"^name: Type the name of the",
    r"weights must not all be zero",
    r"Ask for at most 366 days at a time",
    r"Must not be before",
    r"^model: ",
)
_RULES = re.compile("|".join(BEYOND_SCHEMAS))


class RefusedWithoutRule(Failure):  # type: ignore[misc]
    """A request that the schema allows was refused."""


@schemathesis.check  # type: ignore[untyped-decorator]
def refuses_by_schema(_, response, case) -> None:  # type: ignore[no-untyped-def]
    """A 422 for a request that the schema allows names one of these rules."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code != 422:
        return
    detail = str(response.json().get("detail", ""))
    if not _RULES.search(detail):
        raise RefusedWithoutRule(
            operation=case.operation.label,
            title="Schema-valid request refused",
            message=f"No rule of BEYOND_SCHEMAS: {detail}",
        )
