"""Payloads of every form, for tests: an example of each, and any that its schema takes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from memory.domain.forms import ArtifactKind, Form, Payload

EXAMPLES: dict[Form, dict[str, Any]] = {
    Form.FACT: {
        "key": "error_handling",
        "value": "Result<T,E> over try-catch",
        "scope": "typescript",
    },
    Form.EPISODE: {
        "title": "Auth refactor",
        "narrative": "Sessions replaced JWT because of the size of tokens.",
        "artifacts": [
            {"kind": "commit", "ref": "4f2a9c0"},
            {"kind": "adr", "ref": "ADR-012"},
            {"kind": "file", "ref": "src/auth/login.ts"},
        ],
    },
    Form.PATTERN: {
        "trigger": "new_endpoint",
        "template": {"route": "{method} /api/{resource}", "validation": "zod_schema"},
        "hint": "endpoint: route→zod→result→json",
        "language": "typescript",
    },
    Form.WORKFLOW: {
        "trigger": "deploy_request",
        "steps": ["test", "build", "prod"],
        "details": {"test": "pnpm test --coverage >80%", "build": "docker build -t app:${SHA}"},
    },
    Form.DECISION: {"decision": "We use PostgreSQL for billing."},
    Form.CONVENTION: {"convention": "Name tests after behaviour.", "scope": "tests"},
    Form.FAILURE: {
        "signature": "TimeoutError in checkout",
        "lesson": "Raise the pool before the sale.",
    },
}

_LETTERS = st.characters(categories=["L", "N"])
_SIGNS = st.characters(exclude_categories=["C", "Z"])
# With a word in it, without spaces at its ends, and printable: what every field takes.
_NAMES = st.builds(lambda one, rest: one + rest, _LETTERS, st.text(_SIGNS, max_size=20))
_TEXTS = st.lists(_NAMES, min_size=1, max_size=6).map(" ".join)
_ARTIFACTS = st.lists(
    st.fixed_dictionaries(
        {"kind": st.sampled_from([each.value for each in ArtifactKind]), "ref": _NAMES}
    ),
    max_size=4,
    unique_by=lambda each: (each["kind"], each["ref"]),
)
_MAPS = st.dictionaries(_NAMES, _TEXTS, min_size=1, max_size=3)
_FIELDS: dict[Form, tuple[dict[str, Any], dict[str, Any]]] = {
    Form.FACT: ({"key": _NAMES, "value": _TEXTS}, {"scope": _NAMES}),
    Form.EPISODE: ({"title": _TEXTS}, {"narrative": _TEXTS, "artifacts": _ARTIFACTS}),
    Form.PATTERN: (
        {"trigger": _NAMES, "template": _TEXTS | _MAPS},
        {"hint": _TEXTS, "language": _NAMES, "artifacts": _ARTIFACTS},
    ),
    Form.WORKFLOW: (
        {"trigger": _NAMES, "steps": st.lists(_NAMES, min_size=1, max_size=4)},
        {},
    ),
    Form.DECISION: ({"decision": _TEXTS}, {"artifacts": _ARTIFACTS}),
    Form.CONVENTION: ({"convention": _TEXTS}, {"scope": _NAMES, "artifacts": _ARTIFACTS}),
    Form.FAILURE: ({"signature": _TEXTS, "lesson": _TEXTS}, {"artifacts": _ARTIFACTS}),
}


def payloads() -> st.SearchStrategy[tuple[Form, Payload]]:
    """A form and a payload that its schema takes."""
    return st.one_of(
        *(
            st.tuples(st.just(form), st.fixed_dictionaries(needed, optional=optional))
            for form, (needed, optional) in _FIELDS.items()
        )
    )
