"""JSON documents that people write, as pydantic models; errors name the place of each problem.

A model gives its validation, its defaults, its schema in the API, the fields of the admin's form
and its page in the documentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema

from teams.errors import InvalidError

# A printable character other than a space, and a line of them, as a schema writes them.
VISIBLE = r"[\p{L}\p{M}\p{N}\p{P}\p{S}]"
LINE = f"{VISIBLE}(?: *{VISIBLE})*"
OWN_FIELDS = "*"
_WORDS = {
    "missing": "It is missing.",
    "string_type": "Must be a text.",
    "string_too_long": "It has {length} characters and may have at most {max_length}.",
    "string_unicode": "Must be valid Unicode text without NUL.",
    "list_type": "Must be a list.",
    "too_long": "It has {actual_length} items and may have at most {max_length}.",
    "too_short": "Name at least one.",
    "dict_type": "Must be an object.",
    "model_type": "Must be an object.",
    "bool_type": "Must be true or false.",
    "int_type": "Must be a whole number.",
    "int_from_float": "Must be a whole number.",
    "float_type": "Must be a number.",
    "finite_number": "Must be a finite number.",
    "greater_than_equal": "Must be at least {ge}, not {given}.",
    "less_than_equal": "Must be at most {le}, not {given}.",
    "decimal_max_places": "Must have at most {decimal_places} decimals.",
    "literal_error": "Must be one of {expected}.",
}
_MOST_SHOWN = 30


class DocumentError(InvalidError):
    """A document that is not valid; `problems` are messages by place, such as "rules.always[2]"."""

    def __init__(self, problems: Mapping[str, list[str]]) -> None:
        place, words = next(iter(problems.items()))
        super().__init__(words[0], field=place)
        self.problems = dict(problems)

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message


class Part(BaseModel):
    """An object of a document: no unknown fields, no conversions.

    Null is as if left out, and so is {} where no plain value is expected.
    """

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        serialize_by_alias=True,
        use_attribute_docstrings=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return given
        plain = {
            info.alias or name: isinstance(info.default, str | float | int)
            for name, info in cls.model_fields.items()
        }
        return {
            str(name): each
            for name, each in given.items()
            if name not in plain or (each is not None and (plain[name] or each != {}))
        }

    @classmethod
    def read(
        cls, value: object, *, at: str = "", context: Mapping[str, object] | None = None
    ) -> Self:
        """Returns the validated document, which stands `at` a place; raises DocumentError."""
        try:
            given = {} if value is None else value
            return cls.model_validate(given, context=dict(context or {}))
        except ValidationError as error:
            problems: dict[str, list[str]] = {}
            for each in error.errors(include_url=False):
                place = at
                for step in each["loc"]:
                    place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else step
                words = problems.setdefault(place, [])
                if (said := _message(cls, each)) not in words:
                    words.append(said)
            raise DocumentError(problems) from None

    @classmethod
    def usable(cls, stored: object) -> Self:
        """Reads what a row holds, without the entries that are not valid."""
        given = dict(stored) if isinstance(stored, Mapping) else {}
        while True:
            try:
                return cls.model_validate(given)
            except ValidationError as error:
                wrong = {each["loc"][0] for each in error.errors() if each["loc"]}
                given = {name: each for name, each in given.items() if name not in wrong}
                if not wrong:
                    return cls()

    def chosen(self) -> dict[str, Any]:  # Any: JSON
        """Returns what was set, also where it is equal to the default, as JSON."""
        return self.model_dump(mode="json", exclude_unset=True)

    def differing(self) -> dict[str, Any]:  # Any: JSON
        """Returns what differs from the defaults, as JSON."""
        return self.model_dump(mode="json", exclude_defaults=True)


def refuse(words: str, *places: str | int) -> ValidationError:
    """Returns the error of a validator about a place inside of what it validates."""
    problem = InitErrorDetails(
        type=PydanticCustomError("words", "{words}", {"words": words}), loc=places, input=None
    )
    return ValidationError.from_exception_data("document", [problem])


def likely_meant(name: str, known: Sequence[str]) -> str | None:
    """Returns the known name of which `name` looks like a misspelling, if any."""
    close = get_close_matches(name.casefold(), known, n=1, cutoff=0.8)
    return close[0] if close else None


def listed(given: object, *, most: int = 100) -> object:
    """Returns a single text as a list of one, a blank one as none, and all else unchanged.

    A blank one of more than `most` characters stays one, to be refused like any other.
    """
    if not isinstance(given, str):
        return given
    return [given] if given.strip() or len(given) > most else []


def once(items: list[Any]) -> list[Any]:  # Any: hashable items of one type
    """Returns the items without repetitions, in order."""
    return list(dict.fromkeys(items))


@dataclass(frozen=True, slots=True)
class Text:
    """Annotates a text: its most characters, with white space around it counted and dropped.

    Without `has_lines` it has one line, without control characters.
    """

    most: int
    is_required: bool = False
    has_lines: bool = False

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        text = core_schema.str_schema(strict=True, max_length=self.most)
        return core_schema.no_info_after_validator_function(self._checked, text)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        # Any: JSON Schema
        line = LINE if self.is_required else f"(?:{LINE})?"
        pattern = "^[^\\u0000]*$" if self.has_lines else f"^\\s*{line}\\s*$"
        return {**handler(schema), "pattern": pattern}

    def _checked(self, text: str) -> str:
        text = text.strip()
        if "\0" in text:
            raise ValueError("Must be valid Unicode text without NUL.")
        if not self.has_lines and not text.isprintable():
            raise ValueError("Must be one line without control characters.")
        if self.is_required and not text:
            raise ValueError("It is missing; give a text.")
        return text


@dataclass(frozen=True, slots=True)
class Leaf:
    """A field of a document that holds a value: its place, type, bounds and words.

    `part` is the model that it belongs to, `kind` its type without None, `item` that of a list's
    items. Where a part takes fields of its author's own, one leaf whose last step is OWN_FIELDS
    stands for them.
    """

    part: type[Part]
    path: tuple[str, ...]
    label: str
    description: str = ""
    kind: Any = str
    item: Any = None
    notes: tuple[object, ...] = ()
    default: Any = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a Literal, or of the items of a list of them."""
        kind = self.item or self.kind
        return get_args(kind) if get_origin(kind) is Literal else ()

    def bound(self, name: str) -> Any:  # Any: a number
        """Returns `ge`, `le` or `max_length`; None without one."""
        return next(
            (v for note in self.notes if (v := getattr(note, name, None)) is not None), None
        )

    @property
    def range(self) -> str:
        """The bounds of a number in words."""
        least, most = self.bound("ge"), self.bound("le")
        return "" if most is None else f"{least or 0:,} to {most:,}"


def leaves(model: type[Part], path: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """Yields every field that holds a value, in the order of the model."""
    for name, info in model.model_fields.items():
        place = (*path, info.alias or name)
        kind, notes = _plain(info.annotation, info.metadata)
        if isinstance(kind, type) and issubclass(kind, Part):
            yield from leaves(kind, place)
        else:
            yield _leaf(model, place, info, kind, notes)
    if model.model_config.get("extra") == "allow":
        words = "Fields of your own, such as humour: dry."
        yield Leaf(model, (*path, OWN_FIELDS), "Further fields", words)


def _leaf(
    part: type[Part], path: tuple[str, ...], info: FieldInfo, kind: Any, notes: list[object]
) -> Leaf:
    item = None
    if get_origin(kind) is list:
        kind, item = list, _plain(get_args(kind)[0], [])[0]
    return Leaf(
        part=part,
        path=path,
        label=info.title or path[-1].replace("_", " ").capitalize(),
        description=" ".join((info.description or "").split()),
        kind=kind,
        item=item,
        notes=tuple(notes),
        default=None if info.is_required() else info.get_default(call_default_factory=True),
    )


def _plain(kind: Any, notes: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The type without Annotated and None, and what annotates it."""
    found = list(notes)
    while True:
        origin = get_origin(kind)
        if origin is Annotated:
            kind, *more = get_args(kind)
            for note in more:
                found += note.metadata if isinstance(note, FieldInfo) else [note]
        elif origin in (Union, UnionType):
            kind = next(each for each in get_args(kind) if each is not NoneType)
        else:
            return kind, found


def _message(model: type[Part], error: Any) -> str:
    """An error of pydantic in our words; its own where there are none."""
    context = error.get("ctx", {})
    if error["type"] == "value_error":
        return str(context["error"])
    if error["type"] == "extra_forbidden":
        return f"There is no such field; known are: {', '.join(_fields_at(model, error['loc']))}."
    if error["type"] not in _WORDS:
        return str(error["msg"])
    given = str(error["input"])
    shown = given if len(given) <= _MOST_SHOWN else f"{given[: _MOST_SHOWN - 3]}..."
    return _WORDS[error["type"]].format(**context, given=shown, length=len(given))


def _fields_at(model: type[Part], place: Sequence[str | int]) -> list[str]:
    for step in place[:-1]:
        named = {info.alias or name: info for name, info in model.model_fields.items()}
        if isinstance(step, str) and step in named:
            kind = _plain(named[step].annotation, [])[0]
            model = _plain(get_args(kind)[0], [])[0] if get_origin(kind) is list else kind
    return [info.alias or name for name, info in model.model_fields.items()]


def changed_places(before: object, after: object) -> list[str]:
    """Returns the places that differ, such as "tagline" and "memory_config.token_budget"."""
    old, new = (each if isinstance(each, Mapping) else {} for each in (before, after))
    found = []
    for name in sorted({*old, *new}):
        was, now = old.get(name), new.get(name)
        if was != now and isinstance(was, Mapping) and isinstance(now, Mapping):
            found += [f"{name}.{e}" for e in sorted({*was, *now}) if was.get(e) != now.get(e)]
        elif was != now:
            found.append(name)
    return found
