"""Which fields of a person's profile change only with a yes: a setting of the team."""

from __future__ import annotations

import re

from .checking import DocumentError

# Seed 004, section 10; "name" is what "My name is ..." tells, beside what somebody is called.
DEFAULT_SENSITIVE_FIELDS = ("preferred_name", "name", "pronouns", "city", "language")
MAX_FIELDS = 30
_FIELD = re.compile(r"[a-z][a-z0-9_]{0,49}")


def default_sensitive_fields() -> list[str]:
    """Those of a new team, as a list of its own."""
    return list(DEFAULT_SENSITIVE_FIELDS)


def check_sensitive_fields(value: object) -> list[str]:
    """The fields, each once, in order.

    Raises DocumentError for what is no list of up to 30 names in lower case.
    """
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise DocumentError({"": ["Give a list of names of fields."]})
    names = list(dict.fromkeys(value))
    wrong = [each for each in names if not _FIELD.fullmatch(each)]
    if wrong:
        problem = f"{wrong[0][:50]!r} is no field: write lower-case letters, digits and _."
        raise DocumentError({"": [problem]})
    if len(names) > MAX_FIELDS:
        raise DocumentError({"": [f"At most {MAX_FIELDS} fields can be sensitive."]})
    return names
