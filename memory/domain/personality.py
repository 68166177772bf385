"""An agent's identity document as the words of its prompt (seed 000, the personality template).

A document is written by a team's admin, so its words stand as they are; whatever shape it has,
nothing of it is lost and nothing in it can fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory.domain.rendering import plain_block, plain_line

WHO = "## Who You Are"
HOW = "## How You Communicate"
RULES = "## Your Rules"
PARTS = (WHO, HOW, RULES)
# The first words of an agent's prompt.
OPENING = "You are"

# Keys of a personality that have a place of their own in the template.
_TRAITS = ("traits", "personality_traits")
_VOICE = ("voice_examples", "examples")
_CUSTOM = "custom_instructions"
_KINDS = ("shared", "custom", "disabled")
_PLACED = {*_TRAITS, *_VOICE, "tone", "verbosity", "formality", _CUSTOM}


@dataclass(frozen=True, slots=True)
class Document:
    """What is written of an agent; the mappings are JSON objects of any shape."""

    name: str
    tagline: str = ""
    # Any: JSON that a person wrote.
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
        *(_block(source.get(_CUSTOM)) for source in (document.personality, document.rules)),
    ]
    return "\n\n".join(part for part in parts if part)


def effective_skills(document: Document) -> list[Skill]:
    """Layer 3: the shared and the agent's own skills without the disabled ones, each once."""
    skills = document.skills
    disabled = {skill.name.casefold() for skill in _skills(skills.get("disabled"))}
    found: dict[str, Skill] = {}
    # A document may also name its skills right away.
    named = {name: about for name, about in skills.items() if name not in _KINDS}
    for given in (skills.get("shared"), skills.get("custom"), named):
        for skill in _skills([given]):
            key = skill.name.casefold()
            if key not in disabled and (key not in found or skill.description):
                found[key] = skill
    return list(found.values())


def _part(heading: str, lines: list[str]) -> str:
    return "\n".join([heading, *lines]) if lines else ""


def _traits(personality: Mapping[str, Any]) -> list[str]:
    """The traits, and every other word of a personality that has no place of its own."""
    lines = [f"- {trait}" for key in _TRAITS for trait in _lines(personality.get(key))]
    for key, value in personality.items():
        said = "; ".join(_lines(value)) if key not in _PLACED else ""
        if said:
            lines.append(f"- {_title(key)}: {said}")
    return lines


def _voice(personality: Mapping[str, Any]) -> list[str]:
    tone = "; ".join(_lines(personality.get("tone")))
    style = ", ".join(
        said for key in ("verbosity", "formality") for said in _lines(personality.get(key))
    )
    examples = [f'- "{said}"' for key in _VOICE for said in _lines(personality.get(key))]
    lines = [f"- Tone: {tone}"] if tone else []
    lines += [f"- Style: {style}"] if style else []
    return [*lines, "You sound like this:", *examples] if examples else lines


def _rules(rules: Mapping[str, Any]) -> list[str]:
    """ALWAYS and NEVER, then whatever other kinds of rules there are."""
    lines: list[str] = []
    kinds = [key for key in ("always", "never") if key in rules]
    kinds += [key for key in rules if key not in ("always", "never", _CUSTOM)]
    for kind in kinds:
        said = _lines(rules[kind])
        if said:
            lines += ["", f"{_title(kind).upper()}:", *(f"- {each}" for each in said)]
    return lines[1:]


def _lines(value: Any) -> list[str]:
    """A JSON value as lines: a list has one for each item, an object one for each name."""
    if value is None or value is False or value == "":
        return []
    if isinstance(value, Mapping):
        named = ((_title(key), "; ".join(_lines(each))) for key, each in value.items())
        return [f"{key}: {said}" if said else key for key, said in named if key]
    if isinstance(value, list | tuple):
        return [said for each in value for said in ["; ".join(_lines(each))] if said]
    said = "yes" if value is True else plain_line(str(value))
    return [said] if said else []


def _block(value: Any) -> str:
    return plain_block(value) if isinstance(value, str) else "\n".join(_lines(value))


def _title(key: object) -> str:
    """A JSON key as words: `response_length` is "Response length"."""
    words = plain_line(str(key).replace("_", " "))
    return words[:1].upper() + words[1:]


def _skills(value: Any) -> list[Skill]:
    """Names, {"name", "description"} objects, or an object of descriptions by name."""
    if isinstance(value, str):
        return [Skill(plain_line(value))] if plain_line(value) else []
    if isinstance(value, Mapping):
        if isinstance(value.get("name"), str):
            name, about = plain_line(value["name"]), _lines(value.get("description"))
            return [Skill(name, "; ".join(about))] if name else []
        named = ((plain_line(str(name)), _lines(about)) for name, about in value.items())
        return [Skill(name, "; ".join(about)) for name, about in named if name]
    if isinstance(value, list | tuple):
        return [skill for each in value for skill in _skills(each)]
    return []
