"""Who says so, told behind the matter: "..., says the vet", "..., according to the minutes"."""

from __future__ import annotations

from collections.abc import Sequence

from .tables import words
from .tokens import Token

_SAYING = words("says said confirms confirmed reports reported writes wrote notes noted")
_EMPHASIS = (
    ("without", "exception"), ("without", "any", "exception"), ("no", "exceptions"),
    ("no", "exception"), ("every", "single", "one"), ("each", "and", "every", "one"),
)  # fmt: skip
_REACH = 6
_FEWEST = 3


def without_source(tokens: Sequence[Token]) -> list[Token]:
    """The tokens without what only says who told it or how surely, at the end of them."""
    end = len(tokens)
    while end and tokens[end - 1].lower in {".", "!"}:
        end -= 1
    cut = _cut(tokens, end)
    return [*tokens[:cut], *tokens[end:]] if cut >= _FEWEST else list(tokens)


def _cut(tokens: Sequence[Token], end: int) -> int:
    """Where the source or the emphasis begins, 0 for nowhere."""
    for start in range(end - 1, max(0, end - _REACH - 1), -1):
        tail = tuple(token.lower for token in tokens[start:end])
        if tail[:2] == ("according", "to") and len(tail) > 2:
            return start - (tokens[start - 1].lower == ",")
        if tail[0] != ",":
            continue
        if tail[1:] in _EMPHASIS:
            return start
        said = len(tail) > 2 and (tail[1] in _SAYING or tail[-1] in _SAYING)
        return start if said else 0
    return 0
