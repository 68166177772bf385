"""A team's category file, checked whole before anything of it is used (seed 004, §5)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

MAX_CATEGORIES = 500
MAX_NAME_CHARS = 100


class Context(StrEnum):
    """The way in which a category's memories enter an answer that asks for it."""

    ALL = "all"
    RAG = "rag"


class CategoryFileError(ValueError):
    """Everything that is wrong with a file, one line each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def read_category_file(data: object) -> CategoryFile:
    """The file of parsed YAML: `categories` (a list, or `system` and `custom` lists) and,
    optionally, `allowlists` (agent → names, or the word `all`).

    Raises CategoryFileError with every problem found.
    """
    try:
        return CategoryFile.model_validate(data)
    except ValidationError as error:
        problems = [_told(each["loc"], each["msg"]) for each in error.errors()]
        raise CategoryFileError(problems) from None


def _told(path: Sequence[str | int], problem: str) -> str:
    place = "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path)
    return f"{place.removeprefix('.') or 'the file'}: {problem.removeprefix('Value error, ')}"


def _plain(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError("must be printable and neither begin nor end with a space")
    return text


def _joined(data: object) -> object:
    if not isinstance(data, dict):
        return data
    if unknown := data.keys() - {"system", "custom"}:
        raise ValueError(f"has no field '{min(map(str, unknown))}'; known are system, custom")
    lists = [each or [] for each in data.values()]
    if not all(isinstance(each, list) for each in lists):
        raise ValueError("system and custom must be lists")
    return [entry for each in lists for entry in each]


def _allowed(names: object) -> object:
    """The names of an allowlist; () for the word `all`."""
    if names == "all":
        return ()
    if not isinstance(names, list) or not names:
        # An empty list could mean nothing as well as everything.
        raise ValueError("must be a list of one or more categories, or the word all")
    return tuple(names)


def _with_one_length(data: object) -> object:
    if not isinstance(data, dict) or data.get("rag_length") is None:
        return data
    if data.get("length") is not None:
        raise ValueError("has both length and rag_length; give one")
    if data.get("context") == Context.ALL:
        raise ValueError("rag_length is for the context rag; call it length")
    return {"length": data["rag_length"]} | {
        name: value for name, value in data.items() if name not in ("length", "rag_length")
    }


_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)
_Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARS), AfterValidator(_plain)]
_Allowed = Annotated[
    tuple[_Name, ...],
    BeforeValidator(_allowed),
    AfterValidator(lambda names: tuple(dict.fromkeys(names))),
]


class CategoryRule(BaseModel):
    """A category of the file; `length` bounds its memories in one answer, None not at all."""

    model_config = _STRICT

    name: _Name
    description: Annotated[
        str, BeforeValidator(lambda value: value or ""), Field(max_length=500)
    ] = ""
    context: Annotated[Context, Field(strict=False)] = Context.RAG
    length: Annotated[int, Field(ge=1, le=10_000)] | None = None


class CategoryFile(BaseModel):
    """The categories in the file's order, and what each agent may read; empty means everything."""

    model_config = _STRICT

    categories: Annotated[
        list[Annotated[CategoryRule, BeforeValidator(_with_one_length)]],
        BeforeValidator(_joined),
        Field(max_length=MAX_CATEGORIES),
    ]
    allowlists: Annotated[
        dict[_Name, _Allowed],
        BeforeValidator(lambda value: {} if value is None else value),
    ] = {}

    @model_validator(mode="after")
    def _names_are_unique(self) -> CategoryFile:
        names = [each.name for each in self.categories]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise ValueError(f"categories names '{twice}' twice")
        return self

    @property
    def undefined(self) -> tuple[str, ...]:
        """Names that stand in an allowlist and are no category of the file."""
        known = {rule.name for rule in self.categories}
        named = {name for names in self.allowlists.values() for name in names}
        return tuple(sorted(named - known))


@lru_cache(maxsize=1_024)
def plain_category(name: str) -> str:
    """Equal for names that differ in case, separators or number: "Technical facts" is one."""
    plain = " ".join(re.split(r"[\s_-]+", name.strip().casefold()))
    return plain[:-1] if plain.endswith("s") and not plain.endswith("ss") else plain
