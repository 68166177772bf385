"""How long, how specific and of what form a statement is."""

from __future__ import annotations

import re

from ..grammar import CLOSED, GREETINGS, has_verb
from .seen import Seen

_AMOUNT = re.compile(
    r"\d\s?(?:%|k\b|kg|km|m\b|cm|euros?|dollars?|pounds?|gb|mb|tb|ms|s\b|min|hours?|days?|weeks?|"
    r"months?|years?|people|guests|seats|litres?|degrees|pieces|working)|[$€£]\s?\d",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"\b(?:[A-Z]{1,5}-\d[\w-]*|[\w.+-]+@[\w.]+|https?://\S+|v\d+|[a-z]+[-_][a-z0-9_-]+|"
    r"\+?\d[\d ]{7,}|[\w]+\.[a-z]{2,4}\b|[a-z]+[A-Z]\w+)|#\w[\w-]+"
)
_QUOTE_MARKS = re.compile(r"[\"“”]")
_IF = re.compile(r"(?:and |but |so )?(?:if|what if|suppose|imagine|unless|assuming)\b")
_UNREAL = re.compile(r"\b(?:would|could|might|had|were|'d)\b")
_RULE = re.compile(r"(?:when|whenever|before|after|to|how we|how to|for)\b.*[,:]")
_LENGTHS = ((3, "0-2"), (5, "3-4"), (8, "5-7"), (13, "8-12"), (21, "13-20"))
_CONTENTS = ((1, "0"), (2, "1"), (4, "2-3"), (7, "4-6"))


def shape(seen: Seen) -> set[str]:
    """Features of length, form and specificity."""
    if not seen.statement.is_persons:
        return set()
    words, said = seen.words, seen.statement.said
    content = [each for each in words if each not in CLOSED | GREETINGS and len(each) > 2]
    found = {
        "length " + _bin(len(words), _LENGTHS, "21+"),
        "content " + _bin(len(content), _CONTENTS, "7+"),
        f"names {min(2, len(seen.names))}",
        "verb" if has_verb(seen.clause) else "no verb",
        f"tense {seen.tense}",
    }
    kinds = {value.kind for value in seen.values} - {"name"}
    found |= {f"has {kind}" for kind in kinds}
    sentence = seen.statement.sentence.rstrip()
    marked = {
        "nothing specific": not kinds and not seen.names,
        "amount": _AMOUNT.search(said) is not None,
        "identifier": _IDENTIFIER.search(said) is not None,
        "quotation marks": _QUOTE_MARKS.search(sentence) is not None,
        "list": sentence.count(",") > 1,
        "colon": ":" in said,
        "exclaims": sentence.endswith("!"),
        "trails off": sentence.endswith(("...", "…")),
        "question": seen.statement.is_question and not seen.statement.is_favour,
        "favour": seen.statement.is_favour,
        "in question": sentence.endswith("?") and not seen.statement.is_question,
        "only closed words": bool(words) and not content,
        "joined": bool(seen.statement.joined),
        "when rule": _RULE.match(seen.low) is not None,
        "dated": seen.is_dated,
    }
    found |= {name for name, holds in marked.items() if holds}
    if _IF.match(said.lower()):
        found.add("if unreal" if _UNREAL.search(said.lower()) else "if rule")
    elif " if " in seen.low:
        found.add("if inside")
    return found


def _bin(number: int, bins: tuple[tuple[int, str], ...], rest: str) -> str:
    return next((name for below, name in bins if number < below), rest)
