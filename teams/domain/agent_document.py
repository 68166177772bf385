"""An agent's identity document: who it is, how it talks, what it can, which model and memory.

It is seed 000's AgentDNA as its sections 3A (the personality template), 3B and 3C use it. What is
checked here is what a person writes; what is stored is given back as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .checking import Checked, likely_meant
from .memory_config import MemoryConfig
from .model_config import ModelConfig

MAX_NAME_CHARS = 200
MAX_TAGLINE_CHARS = 300
MAX_LINE_CHARS = 2_000
MAX_LINES = 100
MAX_INSTRUCTION_CHARS = 20_000
MAX_SKILLS = 200
MAX_SKILL_NAME_CHARS = 100
# Of words of the author's own beside those that have a place in the template.
MAX_OTHERS = 30
MAX_OTHER_CHARS = 60
# Other names that the same things have gone by.
_SYNONYMS = {"personality_traits": "traits", "examples": "voice_examples"}
_LISTS, _LINES, _INSTRUCTIONS = (
    ("traits", "voice_examples"),
    ("tone", "verbosity", "formality"),
    "custom_instructions",
)
_PERSONALITY = (*_LISTS, *_LINES, _INSTRUCTIONS)
_RULES = ("always", "never", _INSTRUCTIONS)
_SKILLS = ("shared", "custom", "disabled")

_FIELDS = (
    "name",
    "tagline",
    "personality",
    "rules",
    "skills",
    "model_config",
    "memory_config",
)


@dataclass(frozen=True, slots=True)
class AgentDocument:
    """An agent's whole identity document; its JSON parts are as the agent's row holds them."""

    name: str
    tagline: str = ""
    personality: Mapping[str, object] = field(default_factory=dict)
    rules: Mapping[str, object] = field(default_factory=dict)
    skills: Mapping[str, object] = field(default_factory=dict)
    model: ModelConfig = field(default_factory=ModelConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)

    @classmethod
    def validate(cls, value: object) -> AgentDocument:
        """The document that a person wrote; what it leaves out has its default.

        Raises DocumentError with everything that is wrong and where.
        """
        given = Checked(value)
        parts = given.fields(_FIELDS)
        name = parts["name"].line(most=MAX_NAME_CHARS, is_required=True)
        document = cls(
            name=name or "",
            tagline=parts["tagline"].line(most=MAX_TAGLINE_CHARS) or "",
            personality=_read_personality(parts["personality"]),
            rules=_read_rules(parts["rules"]),
            skills=_read_skills(parts["skills"]),
            model=ModelConfig.check(parts["model_config"]),
            memory=MemoryConfig.check(parts["memory_config"]),
        )
        given.raise_problems()
        return document


def _read_personality(given: Checked) -> dict[str, object]:
    """How the agent is; words of its author's own are kept beside the template's."""
    values = given.mapping()
    said = {name: given.at(name, values.get(name)) for name in _PERSONALITY}
    for other, name in _SYNONYMS.items():
        if values.get(other) is None:
            continue
        if values.get(name) is not None:
            given.at(other).problem(f"It means the same as {name}; give one of them.")
        said[name] = given.at(other, values[other])
    found: dict[str, object] = {name: _lines(said[name]) for name in _LISTS}
    found |= {name: said[name].line(most=MAX_LINE_CHARS) for name in _LINES}
    found[_INSTRUCTIONS] = said[_INSTRUCTIONS].text(most=MAX_INSTRUCTION_CHARS)
    return _filled(found) | _others(given, (*_PERSONALITY, *_SYNONYMS))


def _read_rules(given: Checked) -> dict[str, object]:
    """What the agent always and never does, and further kinds of rules, each with its lines."""
    values = given.mapping()
    said = {name: given.at(name, values.get(name)) for name in _RULES}
    found: dict[str, object] = {name: _lines(said[name]) for name in ("always", "never")}
    found[_INSTRUCTIONS] = said[_INSTRUCTIONS].text(most=MAX_INSTRUCTION_CHARS)
    return _filled(found) | _others(given, _RULES)


def _read_skills(given: Checked) -> dict[str, object]:
    """Skills of the team, the agent's own, and the names of those that are disabled."""
    parts = given.fields(_SKILLS)
    names = parts["disabled"].lines(most=MAX_SKILLS, most_chars=MAX_SKILL_NAME_CHARS)
    return _filled(
        {
            "shared": [_skill_json(*each) for each in _skills(parts["shared"])],
            "custom": [_skill_json(*each) for each in _skills(parts["custom"])],
            "disabled": list(names),
        }
    )


def _filled(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value}


def _lines(given: Checked) -> list[str]:
    return list(given.lines(most=MAX_LINES, most_chars=MAX_LINE_CHARS))


def _skill_json(name: str, about: str) -> object:
    """The name alone where nothing describes it."""
    return {"name": name, "description": about} if about else name


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
            if lines := _lines(part):
                found[name] = lines
        elif value is not None:
            part.problem("Must be a text, a number, true or false, or a list of texts.")
    return found


def _skills(given: Checked) -> list[tuple[str, str]]:
    """Names with descriptions, of names, {"name", "description"} objects, or one object by name.

    A single text is a list of one name.
    """
    found: list[tuple[str, str]] = []
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
        if any(name.casefold() == other.casefold() for other, _ in found):
            place.problem(f"The skill '{name}' stands there twice.")
        found.append((name, about))
    return found


def _skill_places(given: Checked) -> list[Checked]:
    if isinstance(given.value, str):
        return [given] if given.value.strip() else []
    if not isinstance(given.value, Mapping):
        return given.items(most=MAX_SKILLS)
    named = given.mapping()
    if len(named) > MAX_SKILLS:
        given.problem(f"It has {len(named)} items and may have at most {MAX_SKILLS}.")
        return []
    return [given.at(name, {"name": name, "description": about}) for name, about in named.items()]
