"""English is understood in one room: elsewhere no module lists words of its grammar."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

MEMORY = Path(__file__).parents[2] / "memory"
# Where English may be read: the models, and the splitter of sentences and reader of dates.
ROOMS = ("understanding", "domain/text", "migrations")
# Modules that still have a list, and why.
ALLOWED = {
    "domain/prompt_guards.py": "recognises our own prompts and orders to the memory",
    "domain/secrets.py": "recognises how credentials are written in a sentence",
    "domain/secret_fields.py": "recognises the names of fields that hold credentials",
}
FEWEST = 5
FUNCTION_WORDS = frozenset(
    """
    a about after all also always am an and any are as at be because been before being but by can
    could did do does doing down during each for from had has have he her here hers him his how i
    if in into is it its just may me might mine more most must my never no nor not now of off often
    on once only or other our ours out over own same shall she should since so some such than that
    the their theirs them then there these they this those through to too under until up us very
    was we were what when where which while who whom whose why will with would you your yours
    """.split()  # noqa: SIM905
)
_ALTERNATIVES = re.compile(r"[|()\[\]?:\\.*+^$]|\\b")
_WORDS_ALONE = re.compile(r"[a-z'’.:,\s-]+")


def word_lists(source: str) -> Iterator[tuple[int, frozenset[str]]]:
    """The line and the function words of each list of them in a module.

    A list is a collection of strings, a plain text of lower-case words that is set over several
    lines or split into words, or the alternatives of a regular expression.
    """
    tree = ast.parse(source)
    listed = set(_split_or_passed(tree))
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr):
            continue
        words = FUNCTION_WORDS.intersection(_words_of(node, is_listed=id(node) in listed))
        if len(words) >= FEWEST:
            yield node.lineno, words


def _words_of(node: ast.expr, *, is_listed: bool) -> Iterable[str]:
    """Returns the words that an expression lists."""
    if isinstance(node, ast.Set | ast.Tuple | ast.List):
        return [text for each in node.elts if (text := _text_of(each))]
    if isinstance(node, ast.Dict):
        return [text for each in node.keys if (text := _text_of(each))]
    text = _text_of(node)
    if "|" in text:
        return [each.strip() for each in _ALTERNATIVES.split(text)]
    is_plain = _WORDS_ALONE.fullmatch(text) and (is_listed or text.startswith("\n"))
    return text.split() if is_plain else ()


def _split_or_passed(tree: ast.Module) -> Iterator[int]:
    """The ids of texts that are split into words, or are the one argument of a function."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            yield id(node.func.value)
        # An error's sentence is passed to a class.
        if len(node.args) == 1 and isinstance(node.func, ast.Name) and node.func.id.islower():
            yield id(node.args[0])


def _text_of(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def modules() -> Iterator[tuple[str, str]]:
    """The modules that may have no list, by their paths below `memory`."""
    for path in sorted(MEMORY.rglob("*.py")):
        name = path.relative_to(MEMORY).as_posix()
        if not name.startswith(ROOMS) and "/tests/" not in name:
            yield name, path.read_text(encoding="utf-8")


def test_no_module_outside_of_understanding_lists_words_of_english_grammar() -> None:
    found = {
        f"{name}:{line}": sorted(words)
        for name, source in modules()
        if name not in ALLOWED
        for line, words in word_lists(source)
    }

    assert found == {}


def test_the_words_of_grammar_that_the_dates_need_are_read_by_dates_and_models_alone() -> None:
    reading = [
        name
        for name, source in modules()
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and "STOP_WORDS" in {each.name for each in node.names}
    ]

    assert reading == []


@pytest.mark.parametrize("name", ALLOWED)
def test_a_module_that_needs_no_list_any_more_leaves_the_allowed_ones(name: str) -> None:
    assert list(word_lists((MEMORY / name).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "source",
    [
        "WORDS = {'he', 'she', 'they', 'we', 'you'}",
        "WORDS = ['he', 'she', 'they', 'we', 'you']",
        "WORDS = {'he': 1, 'she': 1, 'they': 2, 'we': 2, 'you': 2}",
        "WORDS = 'he she they we you'.split()",
        "WORDS = word_set('he she they we you')",
        'WORDS = f("""\n    he she they\n    we you\n""", 1)',
        r"WORDS = re.compile(r'\b(?:he|she|they|we|you)\b')",
    ],
)
def test_a_list_is_found_however_it_is_written(source: str) -> None:
    assert [words for _, words in word_lists(source)] == [{"he", "she", "they", "we", "you"}]


@pytest.mark.parametrize(
    "source",
    [
        '"""What he or she, they, we and you say."""',
        "raise Error('he or she, they, we and you')",
        "WORDS = {'he', 'she', 'they'}",
        "PATHS = ('src', 'lib', 'in', 'out', 'by')",
    ],
)
def test_sentences_and_short_lists_are_no_lists(source: str) -> None:
    assert list(word_lists(source)) == []
