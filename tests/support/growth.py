"""Growth of the time of text functions with the length of text that repeats a pattern.

Swept are the public functions of the domain that need texts alone, found by their signatures, and
the paths that are made of them; the small models read a bounded number of tokens. Linear means that
four times the characters take about four times the time.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import time
import typing
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache

import memory.domain
import routing.domain
from memory.domain.differences import marked_changes
from memory.domain.retrieval.question import read_question
from memory.domain.talk import departures, excerpt, is_covered
from memory.domain.types import MemoryType
from memory.understanding.embedders import WordLlamaEmbedder
from memory.understanding.quoting import own_sentences

Work = Callable[[str], object]

PATTERNS = (
    "May 5, ", "No, Tuesday. ", "I run Monday. ", "No, ", "I moved to Berlin with Ann; ", "word ",
    "[(", '{"a": [', "a", " ", "\n", "\n- x", ".", ",", "'", '"a ', "`", "**", "#", "_", "-", "->",
    "|", "/a", "a.b.", "a@", "a: ", "; ", "a=", "\\", "1", "1 ", "1/2/", "1:2:", "5% ", "$5 ",
    "2026-02-03 ", "the 3rd of ", "from May 5 to ", "half an hour ago ", "at 5 pm ", "5 or ",
    "Ann Lee ", "A", "Ann and Bob and ", "I ", "I'm ", "my sister Ulla, ", "not a but b ",
    "what? ", "User: hi\n", "[FACT]: a ", "<system>", "<a ", "sk-abc ", "password: ", "QUJD", "0f",
    "https://a.b/", "\u200b", "a\u0301", "我", "if when ", "that ", "she said ", "team ", "we ",
    "remember that ", "forget all ", "every Monday and ", "(contradicts: ", "## Facts ",
    # A diary: no two sentences alike would grow the vocabulary; one entry repeats all it has.
    "On Monday 3 March 2025 I moved to Berlin with Ann. I like tea, not coffee. Mail a@b.co, call"
    " +49 170 1234567. ",
)  # fmt: skip
SHORT, LONG = 2_000, 8_000
# Four times the text may take so many times the time: room for caches and for a busy machine.
MOST = 8.0
# Seconds below which nobody waits and clocks are too coarse.
NOTHING = 0.02
_NOW = datetime(2026, 3, 10, 9, tzinfo=UTC)


def repeated(pattern: str, length: int) -> str:
    """The pattern again and again, cut at so many characters."""
    return (pattern * (length // len(pattern) + 1))[:length]


def readers_of_text() -> Iterator[tuple[str, Work]]:
    """The public functions of the domain and routing that need texts alone, by name."""
    for package in (memory.domain, routing.domain):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(found.name)
            for name, function in sorted(vars(module).items()):
                if name.startswith("_") or getattr(function, "__module__", "") != found.name:
                    continue
                if (call := _call_with_text(function)) is not None:
                    yield f"{found.name}.{name}", call


def _call_with_text(function: object) -> Work | None:
    plain = inspect.unwrap(function) if callable(function) else None  # without its cache
    if not inspect.isfunction(plain):
        return None
    needed = [
        each
        for each in inspect.signature(plain).parameters.values()
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    hints = typing.get_type_hints(plain)
    fixed = {each.name: _NOW for each in needed if hints.get(each.name) is datetime}
    texts = [each for each in needed if hints.get(each.name) is str]
    if not texts or len(texts) + len(fixed) < len(needed):
        return None
    return lambda text: plain(**{each.name: text for each in texts}, **fixed)


@cache
def paths() -> dict[str, Work]:
    """Returns the work done on messages, memories and questions, by name."""
    embedder = WordLlamaEmbedder()

    return {
        "a message is split": own_sentences,
        "the wording of a memory is looked at": lambda text: departures(
            text=text, memory_type=MemoryType.SEMANTIC
        ),
        "a memory is embedded": lambda text: embedder.embed([text]),
        "a question is read": lambda text: read_question(text, now=_NOW),
        "a message is quoted": lambda text: excerpt(text, words=["berlin"]),
        "a message is compared": lambda text: is_covered(text, by=[text]),
        "two versions are compared": lambda text: marked_changes(text, text[::-1]),
    }


def growth(work: Work, pattern: str) -> float:
    """Returns the ratio of the long text's time to the short one's; 0 where it takes nothing."""
    short, long = repeated(pattern, SHORT), repeated(pattern, LONG)
    taken = _seconds(work, long)
    if taken < NOTHING:
        return 0.0
    found = taken / _seconds(work, short)
    for _ in range(3):
        if found <= MOST:
            break
        # Something else may have run beside it.
        found = min(found, _seconds(work, long) / max(_seconds(work, short), 1e-6))
    return found


def _seconds(work: Work, text: str) -> float:
    began = time.thread_time()
    try:
        done = work(text)
        if isinstance(done, Iterator):
            list(done)
    except (ValueError, KeyError, OSError):  # it wants a name, and refuses
        pass
    return time.thread_time() - began
