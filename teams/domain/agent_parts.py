"""The parts of an agent's identity document that say who it is: personality, rules, skills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .checking import Checked, likely_meant

MAX_LINE_CHARS = 2_000
MAX_LINES = 100
MAX_INSTRUCTION_CHARS = 20_000
MAX_SKILLS = 200
MAX_SKILL_NAME_CHARS = 100
# Of words of the author's own beside those that have a place in the template.
MAX_OTHERS = 30
MAX_OTHER_CHARS = 60
_PERSONALITY = (
    "traits",
    "tone",
    "verbosity",
    "formality",
    "voice_examples",
    "custom_instructions",
)
# Other names that the same things have gone by.
_SYNONYMS = {"personality_traits": "traits", "examples": "voice_examples"}
_RULES = ("always", "never", "custom_instructions")
_SKILLS = ("shared", "custom", "disabled")


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill and what it is for, as a prompt lists it."""

    name: str
    description: str = ""

    def as_json(self) -> object:
        """As the document holds it: the name alone where nothing describes it."""
        if not self.description:
            return self.name
        return {"name": self.name, "description": self.description}


@dataclass(frozen=True, slots=True)
class Personality:
    """How the agent is; `others` are words of its author's own, each with its lines."""

    traits: tuple[str, ...] = ()
    tone: str = ""
    verbosity: str = ""
    formality: str = ""
    voice_examples: tuple[str, ...] = ()
    custom_instructions: str = ""
    others: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def check(cls, given: Checked) -> Personality:
        """As far as it can be read; what cannot is noted as a problem."""
        said = _without_synonyms(given)
        return cls(
            traits=said["traits"].lines(most=MAX_LINES, most_chars=MAX_LINE_CHARS),
            tone=said["tone"].line(most=MAX_LINE_CHARS) or "",
            verbosity=said["verbosity"].line(most=MAX_LINE_CHARS) or "",
            formality=said["formality"].line(most=MAX_LINE_CHARS) or "",
            voice_examples=said["voice_examples"].lines(most=MAX_LINES, most_chars=MAX_LINE_CHARS),
            custom_instructions=said["custom_instructions"].text(most=MAX_INSTRUCTION_CHARS) or "",
            others=_others(given, (*_PERSONALITY, *_SYNONYMS)),
        )

    def as_json(self) -> dict[str, object]:
        """As the document holds it, without what is empty."""
        named: dict[str, object] = {
            "traits": list(self.traits),
            "tone": self.tone,
            "verbosity": self.verbosity,
            "formality": self.formality,
            "voice_examples": list(self.voice_examples),
            "custom_instructions": self.custom_instructions,
        }
        return {**{name: value for name, value in named.items() if value}, **self.others}


@dataclass(frozen=True, slots=True)
class Rules:
    """What the agent always and never does; `others` are further kinds, each with its lines."""

    always: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    custom_instructions: str = ""
    others: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def check(cls, given: Checked) -> Rules:
        """As far as they can be read; what cannot is noted as a problem."""
        said = _named(given, _RULES)
        return cls(
            always=said["always"].lines(most=MAX_LINES, most_chars=MAX_LINE_CHARS),
            never=said["never"].lines(most=MAX_LINES, most_chars=MAX_LINE_CHARS),
            custom_instructions=said["custom_instructions"].text(most=MAX_INSTRUCTION_CHARS) or "",
            others=_others(given, _RULES),
        )

    def as_json(self) -> dict[str, object]:
        """As the document holds them, without what is empty."""
        named: dict[str, object] = {
            "always": list(self.always),
            "never": list(self.never),
            "custom_instructions": self.custom_instructions,
        }
        return {**{name: value for name, value in named.items() if value}, **self.others}


@dataclass(frozen=True, slots=True)
class Skills:
    """What the agent can: skills of the team and its own, without the disabled ones."""

    shared: tuple[Skill, ...] = ()
    custom: tuple[Skill, ...] = ()
    disabled: tuple[str, ...] = ()

    @classmethod
    def check(cls, given: Checked) -> Skills:
        """As far as they can be read; what cannot is noted as a problem."""
        parts = given.fields(_SKILLS)
        return cls(
            shared=_skills(parts["shared"]),
            custom=_skills(parts["custom"]),
            disabled=tuple(skill.name for skill in _skills(parts["disabled"])),
        )

    def as_json(self) -> dict[str, object]:
        """As the document holds them, without kinds that have none."""
        named: dict[str, list[object]] = {
            "shared": [skill.as_json() for skill in self.shared],
            "custom": [skill.as_json() for skill in self.custom],
            "disabled": list(self.disabled),
        }
        return {name: value for name, value in named.items() if value}


def _without_synonyms(given: Checked) -> dict[str, Checked]:
    values = given.mapping()
    said = _named(given, _PERSONALITY)
    for other, name in _SYNONYMS.items():
        if values.get(other) is None:
            continue
        if values.get(name) is not None:
            given.at(other).problem(f"It means the same as {name}; give one of them.")
        said[name] = given.at(other, values[other])
    return said


def _named(given: Checked, known: Sequence[str]) -> dict[str, Checked]:
    values = given.mapping()
    return {name: given.at(name, values.get(name)) for name in known}


def _others(given: Checked, known: Sequence[str]) -> dict[str, object]:
    """Words of the author's own: each a text, a number, true or false, or a list of texts."""
    values = {name: value for name, value in given.mapping().items() if name not in known}
    if len(values) > MAX_OTHERS:
        given.problem(f"It has {len(values)} words of its own and may have at most {MAX_OTHERS}.")
        return {}
    found: dict[str, object] = {}
    for name, value in values.items():
        part = given.at(name, value)
        meant = likely_meant(name, known)
        if meant is not None:
            part.problem(f"There is no such field; did you mean '{meant}'?")
        elif not name.strip() or len(name) > MAX_OTHER_CHARS or not name.isprintable():
            given.problem(
                "The names of words of its own have 1 to"
                f" {MAX_OTHER_CHARS} characters, none of them a control character."
            )
        elif isinstance(value, bool | int | float) and abs(value) < 10**15:
            found[name] = value
        elif isinstance(value, str):
            if said := part.text(most=MAX_LINE_CHARS):
                found[name] = said
        elif isinstance(value, list | tuple):
            if lines := part.lines(most=MAX_LINES, most_chars=MAX_LINE_CHARS):
                found[name] = list(lines)
        elif value is not None:
            part.problem("Must be a text, a number, true or false, or a list of texts.")
    return found


def _skills(given: Checked) -> tuple[Skill, ...]:
    """Names, {"name", "description"} objects, or one object of descriptions by name."""
    found: list[Skill] = []
    for place in _skill_places(given):
        if isinstance(place.value, Mapping):
            parts = place.fields(("name", "description"))
            name = parts["name"].line(most=MAX_SKILL_NAME_CHARS, is_required=True)
            about = parts["description"].line(most=MAX_LINE_CHARS) or ""
        elif isinstance(place.value, str):
            name, about = place.line(most=MAX_SKILL_NAME_CHARS, is_required=True), ""
        else:
            place.problem('Give a name, or an object such as {"name": "…", "description": "…"}.')
            continue
        if name is None:
            continue
        if any(name.casefold() == other.name.casefold() for other in found):
            place.problem(f"The skill '{name}' stands there twice.")
        found.append(Skill(name, about))
    return tuple(found)


def _skill_places(given: Checked) -> list[Checked]:
    if not isinstance(given.value, Mapping):
        return given.items(most=MAX_SKILLS)
    named = given.mapping()
    if len(named) > MAX_SKILLS:
        given.problem(f"It has {len(named)} items and may have at most {MAX_SKILLS}.")
        return []
    return [given.at(name, {"name": name, "description": about}) for name, about in named.items()]
