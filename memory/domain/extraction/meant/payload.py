"""Quotations over several sentences: nobody's statement, so nothing in them becomes a memory."""

from __future__ import annotations

from collections.abc import Sequence

from .notices import announced

_OPENERS, _CLOSERS = "“„«", "”»"


def without_payload(*, sentences: Sequence[str]) -> list[str]:
    """The sentences of one message that are the speaker's own.

    The sentences between the marks of a quotation that runs on are dropped; a notice that is
    quoted is told as its sender's.
    """
    own: list[str] = []
    ends = _ends_of_quotes(sentences)
    end_of_quote = -1
    for index, sentence in enumerate(sentences):
        if index <= end_of_quote:
            continue
        end_of_quote = ends[index] if _is_open(sentence) else -1
        notice = announced(text=sentence)
        if notice:
            sentence = notice
        elif end_of_quote > index:
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
