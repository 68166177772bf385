"""Words of wishes and thoughts that tell a name, a rule or a way in instead."""

from __future__ import annotations

from ..reading.frames import Reading
from ..reading.lexicon import Mark
from ..reading.tables import words
from ..reading.tokens import stem


def is_no_thought(reading: Reading, mark: Mark) -> bool:
    """Whether a word that else tells what is only thought of tells something that holds."""
    return (
        _asks_to_be_called(reading, mark) or _may_choose(reading, mark) or _lets_in(reading, mark)
    )


def _asks_to_be_called(reading: Reading, mark: Mark) -> bool:
    """ "Wants to be addressed as Sam" says what the name is."""
    after = [token.lower for token in reading.tokens[mark.end : mark.end + 2]]
    return after[:1] == ["be"] and after[-1] in {"called", "addressed", "known", "named"}


def _may_choose(reading: Reading, mark: Mark) -> bool:
    """ "Are free to choose whether": what somebody may do is a rule, and not a thought."""
    before = [token.lower for token in reading.tokens[max(0, mark.start - 6) : mark.start]]
    close = reading.tokens[max(0, mark.start - 3) : mark.start]
    chosen = any(token.stem in _CHOOSING for token in close)
    return chosen and not _FREE.isdisjoint(before)


def _lets_in(reading: Reading, mark: Mark) -> bool:
    """ "The garden is open to dogs", but "Ann is open to offers" and "open to moving"."""
    after = reading.tokens[mark.end].lower if mark.end < len(reading.tokens) else ""
    person = any(name.start == reading.start for name in reading.names)
    return reading.tokens[mark.start].lower == "open" and not (person or after.endswith("ing"))


_FREE = words("free may can themselves himself herself")
_CHOOSING = frozenset(stem(verb) for verb in words("choose decide opt pick"))
