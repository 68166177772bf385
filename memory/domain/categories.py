"""A team's category file, checked whole before anything of it is used (seed 004, §5)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

MAX_CATEGORIES = 500
MAX_NAME_CHARS = 100
MAX_DESCRIPTION_CHARS = 500
MAX_LENGTH = 10_000
EVERYTHING = "all"

_GROUPS = ("system", "custom")
_KEYS = ("name", "description", "context", "length", "rag_length")


class Context(StrEnum):
    """How a category comes into an answer that asks for it."""

    ALL = "all"
    RAG = "rag"


@dataclass(frozen=True, slots=True)
class CategoryRule:
    """A category of the file; `length` bounds its memories in one answer, None not at all."""

    name: str
    description: str = ""
    context: Context = Context.RAG
    length: int | None = None


@dataclass(frozen=True, slots=True)
class CategoryFile:
    """The categories in the file's order, and what each agent may read; empty means everything."""

    categories: tuple[CategoryRule, ...]
    allowlists: Mapping[str, tuple[str, ...]]

    @property
    def undefined(self) -> tuple[str, ...]:
        """Names that stand in an allowlist and are no category of the file."""
        known = {rule.name for rule in self.categories}
        named = {name for names in self.allowlists.values() for name in names}
        return tuple(sorted(named - known))


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
    reader = _Reader()
    read = reader.file(data)
    if reader.problems:
        raise CategoryFileError(reader.problems)
    return read


class _Reader:
    """Reads on after a problem, so that one run names all of them."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def file(self, data: object) -> CategoryFile:
        top = self._mapping(data, "the file", known=("categories", "allowlists"))
        if "categories" not in top:
            self._wrong("categories", "is missing")
        entries = self._entries(top.get("categories", []))
        if len(entries) > MAX_CATEGORIES:
            self._wrong("categories", f"has more than {MAX_CATEGORIES}")
            entries = []
        rules = [self._rule(entry, path) for path, entry in entries]
        seen: set[str] = set()
        for rule in rules:
            if rule.name and rule.name in seen:
                self._wrong("categories", f"names '{rule.name}' twice")
            seen.add(rule.name)
        return CategoryFile(tuple(rules), self._allowlists(top.get("allowlists")))

    def _entries(self, data: object) -> list[tuple[str, object]]:
        groups: dict[str, object]
        if isinstance(data, list):
            groups = {"categories": data}
        else:
            found = self._mapping(data, "categories", known=_GROUPS)
            groups = {f"categories.{name}": value or [] for name, value in found.items()}
        entries = []
        for path, items in groups.items():
            if not isinstance(items, list):
                self._wrong(path, "must be a list")
                continue
            entries += [(f"{path}[{index}]", item) for index, item in enumerate(items)]
        return entries

    def _rule(self, data: object, path: str) -> CategoryRule:
        entry = self._mapping(data, path, known=_KEYS)
        context = self._context(entry.get("context", Context.RAG.value), f"{path}.context")
        if entry.get("length") is not None and entry.get("rag_length") is not None:
            self._wrong(path, "has both length and rag_length; give one")
        if context is Context.ALL and entry.get("rag_length") is not None:
            self._wrong(f"{path}.rag_length", "is for the context rag; call it length")
        length = next(
            (name for name in ("length", "rag_length") if entry.get(name) is not None), ""
        )
        return CategoryRule(
            name=self._name(entry.get("name"), f"{path}.name"),
            description=self._description(entry.get("description"), f"{path}.description"),
            context=context,
            length=self._length(entry[length], f"{path}.{length}") if length else None,
        )

    def _allowlists(self, data: object) -> dict[str, tuple[str, ...]]:
        allowed: dict[str, tuple[str, ...]] = {}
        if data is None:
            return allowed
        for agent, names in self._mapping(data, "allowlists", known=None).items():
            path = f"allowlists.{agent}"
            self._name(agent, path)
            if names == EVERYTHING:
                allowed[agent] = ()
            elif not isinstance(names, list) or not names:
                # An empty list could mean nothing as well as everything.
                self._wrong(path, "must be a list of one or more categories, or the word all")
            else:
                read = [self._name(name, f"{path}[{at}]") for at, name in enumerate(names)]
                allowed[agent] = tuple(dict.fromkeys(read))
        return allowed

    def _mapping(
        self, data: object, path: str, *, known: Sequence[str] | None
    ) -> Mapping[str, object]:
        if not isinstance(data, dict):
            self._wrong(path, "must be a mapping")
            return {}
        if known is not None:
            for name in data:
                if name not in known:
                    self._wrong(path, f"has no field '{name}'; known are {', '.join(known)}")
        return {str(name): value for name, value in data.items()}

    def _name(self, value: object, path: str) -> str:
        name = self._text(value, path, least=1, most=MAX_NAME_CHARS)
        if name != name.strip():
            self._wrong(path, "must not begin or end with a space")
        return name

    def _description(self, value: object, path: str) -> str:
        return self._text(value or "", path, least=0, most=MAX_DESCRIPTION_CHARS)

    def _text(self, value: object, path: str, *, least: int, most: int) -> str:
        if isinstance(value, str) and least <= len(value) <= most and value.isprintable():
            return value
        self._wrong(path, f"must be a text of {least} to {most} printable characters")
        return ""

    def _context(self, value: object, path: str) -> Context:
        if isinstance(value, str) and value in list(Context):
            return Context(value)
        self._wrong(path, "must be all or rag")
        return Context.RAG

    def _length(self, value: object, path: str) -> int | None:
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_LENGTH:
            return value
        self._wrong(path, f"must be a whole number from 1 to {MAX_LENGTH}")
        return None

    def _wrong(self, path: str, problem: str) -> None:
        self.problems.append(f"{path} {problem}")


@lru_cache(maxsize=1_024)
def plain_category(name: str) -> str:
    """Equal for names that differ in case, separators or number: "Technical facts" is one."""
    plain = " ".join(re.split(r"[\s_-]+", name.strip().casefold()))
    return plain[:-1] if plain.endswith("s") and not plain.endswith("ss") else plain
