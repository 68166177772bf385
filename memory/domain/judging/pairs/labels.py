"""The number or code that names one of a kind: "order 77", "locker 17-B", "flight LH 441"."""

from __future__ import annotations

import re

from ...number_words import ONES
from ..reading.frames import Reading, kept_by_reading
from ..reading.tables import words

_CODE = re.compile(r"([A-Za-z]{2,})[-_#](\d[\w.]*)$")
_NUMBER = re.compile(r"#?\d[\d.]*[a-z]?$")
_ORDINARY = re.compile(r"\d+(?:st|nd|rd|th|s)$|\d+-[a-z]{2,}|v\d")
_NUMBERING = words("number no nr num code id serial plate")
_LONGEST_PREFIX = 4
_NO_LABELS = words(
    "version release edition "
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "the a an of in on at by from to for with about and or over under until since after before "
    "only all some every first last next these those our their its his her my your"
)


def other_labels(e: Reading, n: Reading) -> str:
    """Two labels that name different things of one kind ("order 77 / order 78"), or "".

    Only in the subject part: behind the verb a number is a value, before it a name.
    """
    first, second = _labels(e), _labels(n)
    for kind in first.keys() & second.keys():
        if first[kind] != second[kind]:
            return f"{kind} {first[kind]} / {kind} {second[kind]}"
    return ""


@kept_by_reading
def _labels(reading: Reading) -> dict[str, str]:
    """The number or code behind each noun of the subject part, and the digits of "RMA-33"."""
    found: dict[str, str] = {}
    end = min(reading.head, len(reading.tokens))
    if end - 2 == reading.start and reading.tokens[end - 1].lower in ONES:
        # "Field two is sown".
        return {reading.tokens[reading.start].lower: str(ONES[reading.tokens[end - 1].lower])}
    measured = {
        i
        for each in reading.quantities
        if each.kind not in _BARE
        for i in range(each.start, each.end)
    }
    said = list(reading.tokens[reading.start : end])
    for i, token in enumerate(said):
        code = _CODE.match(token.text)
        before = [each.lower for each in said[:i] if not each.separator]
        if before and before[-1] in _NUMBERING and len(before) > 1:
            before.pop()
        label, noun = token.lower, before[-1] if before else ""
        prefix = said[i - 1].text if i else ""
        if len(before) > 1 and prefix.isupper() and len(prefix) <= _LONGEST_PREFIX:
            # "Flight LH 441".
            label, noun = f"{prefix.lower()} {label}", before[-2]
        named = reading.start + i not in measured and _is_code(token.lower)
        named = named or bool(_NUMBER.match(token.text))
        if named and noun.isalpha() and noun not in _NO_LABELS:
            found.setdefault(noun, label.lstrip("#"))
        elif code:
            found.setdefault(code.group(1).lower(), code.group(2))
    return found


_BARE = frozenset({"number", "count", "label", "version"})


def _is_code(word: str) -> bool:
    """Whether a word with a figure in it names something, and measures or counts nothing."""
    is_mixed = any(c.isdigit() for c in word) and not word.isdigit()
    return is_mixed and not _ORDINARY.match(word) and not _UNSPOKEN.search(word)


_UNSPOKEN = re.compile(r"[:%$€£¥]")
