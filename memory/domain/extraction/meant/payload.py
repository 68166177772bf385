"""Quotations over several sentences: nobody's statement, so nothing in them becomes a memory."""

from __future__ import annotations

from collections.abc import Sequence

from .notices import announced

_OPENERS, _CLOSERS = "“„«", "”»"
# How many sentences behind a notice may still take it back.
_REACH = 2


def without_payload(*, sentences: Sequence[str]) -> list[str]:
    """The sentences of one message that are the speaker's own.

    The sentences between the marks of a quotation that runs on are dropped; a notice that is
    quoted is told as its sender's, but where the words behind it take it back.
    """
    own: list[str] = []
    ends = _ends_of_quotes(sentences)
    end_of_quote = -1
    for index, sentence in enumerate(sentences):
        if index <= end_of_quote:
            continue
        end_of_quote = ends[index] if _is_open(sentence) else -1
        behind = _behind(sentences, index, max(index, end_of_quote))
        notice = announced(text=sentence, behind=behind)
        if notice:
            own.extend(notice)
            continue
        if end_of_quote > index:
            sentence = sentence[: _opening(sentence)].rstrip(' ,:"“„«')
        own.append(sentence)
    return [sentence for sentence in own if sentence.strip()]


def _behind(sentences: Sequence[str], begins: int, ends: int) -> list[str]:
    """What is said right behind a quotation, from its first and its last sentence on."""
    rest = [] if begins == ends else [sentences[ends][_closing(sentences[ends]) + 1 :]]
    return [*rest, *sentences[ends + 1 : ends + 1 + _REACH]]


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


def _closing(sentence: str) -> int:
    """Where the quotation ends that a sentence closes."""
    return max(sentence.rfind(mark) for mark in (*_CLOSERS, '"'))
