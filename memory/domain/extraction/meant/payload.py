"""Text that a user hands over to be worked on: a quotation over several sentences, a pasted mail.

Such text is the task's material and nobody's statement, so nothing in it becomes a memory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_TASK = (
    r"(?:translat\w+|summari[sz]\w+|proofread|rewrite|rephrase|paraphrase|reword|shorten|simplify|"
    r"review|edit|polish|explain|analy[sz]e|parse|format|convert|classify|transcribe|reply\sto|"
    r"respond\sto|sum\sup)"
)
# "Summarise this ticket: …", "can you proofread the following mail:": all that follows is material.
_HANDED_OVER = re.compile(
    rf"^(?:[\w’']+[,!]?\s){{0,6}}?{_TASK}\b[^:.!?]{{0,40}}"
    r"(?:\b(?:this|these|the\sfollowing|below|following)\b[^:.!?]{0,40})?:(?=\s|$)",
    re.IGNORECASE,
)
_POINTS_AT = re.compile(r"\b(?:this|these|the\sfollowing|below)\b", re.IGNORECASE)
_REPLY_MARK = re.compile(r"^>+\s?")
_OPENERS, _CLOSERS = "“„«", "”»"


def without_payload(*, sentences: Sequence[str]) -> list[str]:
    """The sentences of one message that are the speaker's own.

    A sentence that hands text over is kept without it; what follows is dropped, and so are lines
    marked as quoted (">") and the sentences between the marks of a quotation that runs on.
    """
    own: list[str] = []
    ends = _ends_of_quotes(sentences)
    end_of_quote = -1
    for index, sentence in enumerate(sentences):
        if index <= end_of_quote or _REPLY_MARK.match(sentence):
            continue
        handed = _HANDED_OVER.match(sentence)
        if handed and _POINTS_AT.search(handed.group()):
            return [*own, sentence[: handed.end()]]
        end_of_quote = ends[index] if _is_open(sentence) else -1
        if end_of_quote > index:
            sentence = sentence[: _opening(sentence)].rstrip(' ,:"“„«')
        own.append(sentence)
    return [sentence for sentence in own if sentence.strip()]


def _ends_of_quotes(sentences: Sequence[str]) -> list[int]:
    """For each sentence the index of the next one that closes a quotation, or -1."""
    ends = [-1] * len(sentences)
    for index in range(len(sentences) - 2, -1, -1):
        following = sentences[index + 1]
        closes = following.count('"') % 2 == 1 or _balance(following) < 0
        ends[index] = index + 1 if closes else ends[index + 1]
    return ends


def _is_open(sentence: str) -> bool:
    return sentence.count('"') % 2 == 1 or _balance(sentence) > 0


def _balance(sentence: str) -> int:
    return sum(sentence.count(mark) for mark in _OPENERS) - sum(
        sentence.count(mark) for mark in _CLOSERS
    )


def _opening(sentence: str) -> int:
    """Where the quotation begins that a sentence leaves open."""
    return max(sentence.rfind(mark) for mark in (*_OPENERS, '"'))
