"""An agent's document as the values of a form's fields, and back."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from teams.domain.agent_document import AgentDocument
from teams.domain.checking import DocumentError
from teams.domain.context_policy import TIERS
from teams.domain.memory_config import SIGNALS
from teams.services.agents import columns_of

# Any in this module: JSON that a person wrote, and values of form fields.
Json = dict[str, Any]

# Fields of the form by the part of the document that they are written in, each with its own name.
PERSONALITY = {
    "traits": "traits",
    "tone": "tone",
    "verbosity": "verbosity",
    "formality": "formality",
    "voice_examples": "voice_examples",
    "instructions": "custom_instructions",
}
RULES = {"always": "always", "never": "never", "rule_instructions": "custom_instructions"}
SKILLS = {"shared_skills": "shared", "custom_skills": "custom", "disabled_skills": "disabled"}
MODEL = {
    "is_routed": "enable_model_routing",
    "model_name": "model_name",
    "force_tier": "force_tier",
    "max_tier": "max_tier",
    "custom_tiers": "custom_tiers",
    "daily_budget_usd": "daily_budget_usd",
    "monthly_budget_usd": "monthly_budget_usd",
}
WEIGHTS = {f"weight_{signal}": signal for signal in SIGNALS}
SHARES = {f"share_{tier}": tier for tier in TIERS}
HEAD_TAIL = "head_tail_preserve"
MEMORY = ("token_budget", "summarize_interval", "keeps_to_itself")
NAMES = ("name", "tagline")
CATEGORIES = "categories"
# Words of the author's own about how the agent is, as far as they are texts of one line.
OTHER_TRAITS = "other_traits"
# What the API shows beside the document; it is passed over where somebody pastes it.
READ_ONLY = (
    "slug",
    "aliases",
    "effective_weights",
    "version",
    "created_at",
    "changed_at",
    "changed_by",
)
PARTS: Mapping[str, Mapping[str, str]] = {
    "personality": PERSONALITY,
    "rules": RULES,
    "skills": SKILLS,
    "model_config": MODEL,
}
DOCUMENT_FIELDS: Collection[str] = (
    *NAMES,
    *(field for fields in PARTS.values() for field in fields),
    OTHER_TRAITS,
    *WEIGHTS,
    *MEMORY,
    *SHARES,
    HEAD_TAIL,
    CATEGORIES,
)
_TIER_FIELDS = ("name", "model_name", "cost_per_1k_input", "cost_per_1k_output")
# Other names that the same things have gone by; a document that is saved has them no more.
_SYNONYMS = {"personality_traits", "examples"}
_PLACE = re.compile(r"(?P<field>\w+)(?:\[(?P<row>\d+)\])?\.?(?P<inner>.*)")


def document_of(agent: Any) -> Json:
    """The document in the shape of the API, as the row holds it."""
    columns = ("retrieval_weights", *MEMORY, "context_policy")
    memory = {name: getattr(agent, name) for name in columns}
    return {
        "name": agent.name,
        "tagline": agent.tagline,
        **{part: getattr(agent, part) for part in PARTS},
        "memory_config": {**memory, "allowed_categories": agent.allowed_categories},
    }


def form_values(document: Json) -> Json:
    """What the fields of the form show of the document; what they cannot show they leave out."""
    personality, rules, skills, model = (_object(document[part]) for part in PARTS)
    memory = _object(document["memory_config"])
    weights, allowed = _object(memory["retrieval_weights"]), memory["allowed_categories"]
    policy = _object(memory["context_policy"])
    shares = _object(policy.get("shares"))
    personality = {
        "traits": personality.get("personality_traits"),
        "voice_examples": personality.get("examples"),
        **personality,
    }
    return {
        OTHER_TRAITS: list(_own_texts(_object(document["personality"])).items()),
        **{name: document[name] for name in NAMES},
        **{name: memory[name] for name in MEMORY},
        **{field: weights.get(name) for field, name in WEIGHTS.items()},
        **{field: shares.get(name) for field, name in SHARES.items()},
        HEAD_TAIL: policy.get(HEAD_TAIL),
        CATEGORIES: [str(each) for each in allowed] if isinstance(allowed, list) else [],
        "traits": _lines(personality["traits"]),
        "voice_examples": _lines(personality["voice_examples"]),
        **{
            field: personality.get(name) or ""
            for field, name in PERSONALITY.items()
            if field not in ("traits", "voice_examples")
        },
        "always": _lines(rules.get("always")),
        "never": _lines(rules.get("never")),
        "rule_instructions": rules.get("custom_instructions") or "",
        "shared_skills": _skills(skills.get("shared")),
        "custom_skills": _skills(skills.get("custom")),
        "disabled_skills": [name for name, _ in _skills(skills.get("disabled"))],
        **{field: model.get(name) for field, name in MODEL.items()},
        "is_routed": model.get("enable_model_routing", True),
        "custom_tiers": _tiers(model.get("custom_tiers")),
    }


def written_document(values: Json, *, stored: Json, changed: Collection[str]) -> Json:
    """The document with the values of the fields that were `changed`; the rest is as `stored`.

    Words of the author's own, which no field shows, stay beside those of the fields.
    """
    memory = dict(_object(stored["memory_config"]))
    document = {**stored, "memory_config": memory}
    document |= {name: values.get(name) for name in NAMES if name in changed}
    memory |= {name: values.get(name) for name in MEMORY if name in changed}
    if CATEGORIES in changed:
        memory["allowed_categories"] = values.get(CATEGORIES)
    if any(field in changed for field in WEIGHTS):
        memory["retrieval_weights"] = _filled({n: values.get(f) for f, n in WEIGHTS.items()})
    if HEAD_TAIL in changed or any(field in changed for field in SHARES):
        shares = {n: v for f, n in SHARES.items() if (v := values.get(f)) is not None}
        memory["context_policy"] = _filled(
            {"shares": shares or None, HEAD_TAIL: values.get(HEAD_TAIL)}
        )
    for part, fields in PARTS.items():
        is_own = part == "personality" and OTHER_TRAITS in changed
        if is_own or any(field in changed for field in fields):
            known = {*fields.values(), *_SYNONYMS}
            before = _object(stored[part])
            if part == "personality":
                known |= _own_texts(before).keys()
            own = {n: v for n, v in before.items() if n not in known}
            if part == "personality":
                own |= dict(values[OTHER_TRAITS])
            document[part] = own | _filled({n: _json(f, values) for f, n in fields.items()})
    return document


def other_words(document: Json) -> list[str]:
    """What the document says beyond the fields of the form, by place, such as `rules.in_doubt`."""
    return [
        f"{part}.{name}"
        for part, fields in PARTS.items()
        for name in _object(document[part])
        if name not in {*fields.values(), *_SYNONYMS}
        and not (part == "personality" and name in _own_texts(document[part]))
    ]


def changed_columns(document: Json, *, stored: Json) -> Json:
    """The parts that differ, by the names of the agent's columns; both as `document_of` gives them.

    What is left out has its default. Raises DocumentError, which names places of the document, for
    what these parts may not hold. What stays is not checked: it may be older than the rules.
    """
    given = document.get("memory_config")
    if given is not None and not isinstance(given, dict):
        raise DocumentError({"memory_config": ["Must be an object."]})
    before = {**stored, "memory_config": None}
    written = _differing({**document, "memory_config": None}, before)
    memory = _differing(given or {}, _object(stored["memory_config"]))
    if not written and not memory:
        return {}
    checked = AgentDocument.validate({"name": "unchanged", **written, "memory_config": memory})
    columns = columns_of(checked)
    return {name: columns[name] for name in (*written, *memory)}


def field_of(place: str) -> tuple[str | None, str]:
    """The field of the form for a place of the document, and where in it; None where none has it.

    Such as ("custom_skills", "row 3, description") for "skills.custom[2].description".
    """
    part, _, rest = place.partition(".")
    if part in PARTS:
        found = _PLACE.fullmatch(rest)
        names = {name: field for field, name in PARTS[part].items()}
        return _named(names, found)
    if part == "memory_config":
        weights = {f"retrieval_weights.{name}": field for field, name in WEIGHTS.items()}
        policy = {f"context_policy.shares.{name}": field for field, name in SHARES.items()}
        policy |= {
            "context_policy.shares": next(iter(SHARES)),
            f"context_policy.{HEAD_TAIL}": HEAD_TAIL,
        }
        if rest in weights | policy:
            return (weights | policy)[rest], ""
        names = {name: name for name in MEMORY} | {
            "allowed_categories": CATEGORIES,
            "retrieval_weights": next(iter(WEIGHTS)),
        }
        return _named(names, _PLACE.fullmatch(rest))
    return (part, "") if part in NAMES else (None, place)


def _named(names: Mapping[str, str], found: re.Match[str] | None) -> tuple[str | None, str]:
    if found is None or found["field"] not in names:
        return None, found.string if found else ""
    row = f"row {int(found['row']) + 1}" if found["row"] else ""
    return names[found["field"]], ", ".join(filter(None, [row, found["inner"]]))


def _differing(after: Json, before: Json) -> Json:
    left_out = dict.fromkeys(name for name in before if name not in after)
    return {n: v for n, v in {**left_out, **after}.items() if n not in before or v != before[n]}


def _json(field: str, values: Json) -> Any:
    """A field's value as the document holds it; None for what is not said."""
    value: Any = values.get(field)
    if field in ("shared_skills", "custom_skills"):
        return [{"name": name, "description": about} if about else name for name, about in value]
    if field == "custom_tiers":
        return [dict(zip(_TIER_FIELDS, _tier(row), strict=True)) for row in value]
    if field == "is_routed":
        return None if value else False
    if field.endswith("_budget_usd"):
        return None if value is None else float(value)
    return value


def _tier(row: tuple[str, ...]) -> list[Any]:
    return [*row[:2], *map(_number, row[2:])]


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text or None


def _filled(values: Json) -> Json:
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def _own_texts(personality: Json) -> dict[str, str]:
    known = {*PERSONALITY.values(), *_SYNONYMS}
    return {
        name: value
        for name, value in personality.items()
        if name not in known and isinstance(value, str) and value.isprintable()
    }


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _lines(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(each) for each in value] if isinstance(value, list) else []


def _skills(value: object) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [(str(name), str(about or "")) for name, about in value.items()]
    rows = []
    for each in value if isinstance(value, list) else []:
        skill = each if isinstance(each, dict) else {"name": each}
        rows.append((str(skill.get("name") or ""), str(skill.get("description") or "")))
    return rows


def _tiers(value: object) -> list[tuple[str, ...]]:
    return [
        tuple(_text(tier.get(name)) for name in _TIER_FIELDS)
        for tier in (value if isinstance(value, list) else [])
        if isinstance(tier, dict)
    ]


def _text(value: object) -> str:
    return "" if value is None else str(value)
