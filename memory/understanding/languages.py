"""Programming languages that are read, by the names of files, with their grammars."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import PurePosixPath

import tree_sitter_go
import tree_sitter_python
import tree_sitter_typescript
from tree_sitter import Language as Grammar


class Language(StrEnum):
    """The languages that are read."""

    PYTHON = "python"
    TYPESCRIPT = "typescript"
    GO = "go"


_SUFFIXES: Mapping[str, Language] = {
    ".py": Language.PYTHON,
    ".pyi": Language.PYTHON,
    ".ts": Language.TYPESCRIPT,
    ".mts": Language.TYPESCRIPT,
    ".cts": Language.TYPESCRIPT,
    ".tsx": Language.TYPESCRIPT,
    ".go": Language.GO,
}
_GRAMMARS = {
    Language.PYTHON: tree_sitter_python.language,
    Language.TYPESCRIPT: tree_sitter_typescript.language_typescript,
    Language.GO: tree_sitter_go.language,
}


def language_of(path: str) -> Language | None:
    """The language of a file by its name; None for one that is not read."""
    return _SUFFIXES.get(PurePosixPath(path).suffix.lower())


def suffixes_of(language: Language) -> list[str]:
    """Returns the endings of the names of files in a language."""
    return [suffix for suffix, each in _SUFFIXES.items() if each is language]


def grammar_of(path: str) -> Grammar | None:
    """Returns the grammar of a file by its name; None for one that is not read."""
    language = language_of(path)
    return _grammar(language, path.lower().endswith(".tsx")) if language else None


@cache
def _grammar(language: Language, is_tsx: bool) -> Grammar:
    of = tree_sitter_typescript.language_tsx if is_tsx else _GRAMMARS[language]
    return Grammar(of())
