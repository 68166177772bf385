"""An agent's identity document as the words of its prompt (seed 000, the personality template).

A team's admin writes the document, so its words stand verbatim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memory.domain.rendering import plain_block, plain_line

WHO = "## Who You Are"
HOW = "## How You Communicate"
RULES = "## Your Rules"
PARTS = (WHO, HOW, RULES)
# The first words of an agent's prompt.
OPENING = "You are"

_CUSTOM = "custom_instructions"
# Fields of a personality that have a place of their own in the template.
_PLACED = {"traits", "voice_examples", "tone", "verbosity", "formality", _CUSTOM}


@dataclass(frozen=True, slots=True)
class Document:
    """The parts of an agent's document, in the shapes that its model gives them.

    Fields are texts or lists of texts; those of the author's own may be numbers or truth values. A
    skill is a name or an object with `name` and `description`.
    """

    name: str
    tagline: str = ""
    # Any: see above.
    personality: Mapping[str, Any] = field(default_factory=dict)
    rules: Mapping[str, Any] = field(default_factory=dict)
    skills: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill as the prompt lists it (its metadata, level 1)."""

    name: str
    description: str = ""

    def render(self) -> str:
        return f"- {self.name}: {self.description}" if self.description else f"- {self.name}"


def personality_text(document: Document) -> str:
    """Layer 1: who the agent is, how it talks, its rules; parts without words are left out."""
    name, tagline = plain_line(document.name), plain_line(document.tagline)
    opening = f"{OPENING} {name}, {tagline}" if tagline else f"{OPENING} {name}"
    parts = [
        opening if opening.endswith((".", "!", "?")) else f"{opening}.",
        _part(WHO, _traits(document.personality)),
        _part(HOW, _voice(document.personality)),
        _part(RULES, _rules(document.rules)),
        *(plain_block(part.get(_CUSTOM, "")) for part in (document.personality, document.rules)),
    ]
    return "\n\n".join(part for part in parts if part)


def effective_skills(document: Document) -> list[Skill]:
    """Layer 3: the shared and the agent's own skills without the disabled ones, each once."""
    disabled = {skill.name.casefold() for skill in _skills(document, "disabled")}
    found: dict[str, Skill] = {}
    for kind in ("shared", "custom"):
        for skill in _skills(document, kind):
            key = skill.name.casefold()
            if key not in disabled and (key not in found or skill.description):
                found[key] = skill
    return list(found.values())


def _part(heading: str, lines: list[str]) -> str:
    return "\n".join([heading, *lines]) if lines else ""


def _traits(personality: Mapping[str, Any]) -> list[str]:
    lines = [f"- {trait}" for trait in _lines(personality.get("traits"))]
    for key, value in personality.items():
        said = "; ".join(_lines(value)) if key not in _PLACED else ""
        if said:
            lines.append(f"- {_title(key)}: {said}")
    return lines


def _voice(personality: Mapping[str, Any]) -> list[str]:
    tone = plain_line(personality.get("tone", ""))
    style = ", ".join(
        said for key in ("verbosity", "formality") for said in _lines(personality.get(key))
    )
    examples = [f'- "{said}"' for said in _lines(personality.get("voice_examples"))]
    lines = [f"- Tone: {tone}"] if tone else []
    lines += [f"- Style: {style}"] if style else []
    return [*lines, "You sound like this:", *examples] if examples else lines


def _rules(rules: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    kinds = ["always", "never", *(key for key in rules if key not in ("always", "never", _CUSTOM))]
    for kind in kinds:
        if said := _lines(rules.get(kind)):
            lines += ["", f"{_title(kind).upper()}:", *(f"- {each}" for each in said)]
    return lines[1:]


def _lines(value: Any) -> list[str]:
    if value is None or value is False:
        return []
    items = value if isinstance(value, list) else ["yes" if value is True else value]
    return [said for item in items if (said := plain_line(str(item)))]


def _title(key: str) -> str:
    """A field's name as words: `response_length` is "Response length"."""
    words = plain_line(key.replace("_", " "))
    return words[:1].upper() + words[1:]


def _skills(document: Document, kind: str) -> Iterator[Skill]:
    for each in document.skills.get(kind, ()):
        skill = each if isinstance(each, dict) else {"name": each}
        yield Skill(plain_line(skill["name"]), plain_line(skill.get("description", "")))
