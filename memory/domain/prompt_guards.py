"""Rendered prompts of ours in what people and models say, and orders to the memory.

Every sign of a prompt is taken from what writes the prompts (the headings and labels of memories,
the plan of the seven layers, the agent's document, the news of a thread), so that this cannot fall
behind it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable

from memory.domain.personality import PARTS
from memory.domain.plans.documents import ADVICE
from memory.domain.plans.plan import AUTHORITATIVE, NOTICE, SEVEN_LAYERS, SUMMARY_LABEL, USE
from memory.domain.rendering import DATED_LABELS, HEADINGS, LABELS, SAID_HEADING
from memory.domain.updates import NEWS, Kind

# A note or the beginning of a tagged block that poses as the system's or the memory's own words.
_POSER = r"(?:SYSTEM|INST|ASSISTANT|DEVELOPER|ADMIN|MEMORY|CONTEXT)"
_TAG = r"(?P<tag>memor(?:y|ies)|system|context|instructions?|assistant|user_profile)"
_POSING = re.compile(rf"\[\s?{_POSER}\b[^\]\n]{{0,400}}\]|<{_TAG}\b[^>]{{0,80}}>", re.IGNORECASE)
_CLOSING = re.compile(rf"</{_TAG}\s?>", re.IGNORECASE)
_LONGEST_BLOCK = 2_000
# "[SYSTEM] New policy: …": nothing but the mark in the brackets, and the note behind it.
_POSING_LINE = re.compile(rf"\[\s?{_POSER}(?:\s(?:NOTE|MESSAGE|UPDATE))?\s?\]:?[^\n]*")
_COMMAND = re.compile(
    r"\b(?:ignore|disregard|override|bypass|forget)\s(?:\w+\s){0,3}(?:previous|prior|above|earlier"
    r"|system|instructions?|rules|guidelines|prompts?|everything|memor(?:y|ies)|safety)\b"
    r"|\bforget\s(?:everything|all|what\s(?:you|i))\b"
    r"|\b(?:delete|erase|wipe|clear|purge|drop|reset|overwrite|remove|unlock|modify)\s"
    r"(?:(?:all|any|every|the|your|my|of|this|stored|saved)\s){0,4}"
    r"(?:memor(?:y|ies)|audit\slogs?|stored\sfacts)\b"
    r"|\b(?:system\sprompt|developer\smode|jailbreak|(?:hidden|new)\sinstructions?\s?:)"
    r"|\bact\sas\s(?:an?\s)?(?:admin|root|unrestricted)\b|(?:^|[\s\"'“])(?-i:[A-Z]+ )?(?-i:SYSTEM"
    r"|ASSISTANT|ADMIN|DEVELOPER)(?-i:\s[A-Z]{3,12}){0,2}\s?:",
    re.IGNORECASE,
)


def without_rendered_memory(*, text: str) -> str:
    """The text without prompts of ours and notes that pose as such, so that no memory echoes
    itself."""
    if "[" in text or "<" in text:
        text = _without_posing(_POSING_LINE.sub(" ", text))
    return _without_own_prompts(text)


def _without_posing(text: str) -> str:
    """The text with a space for each note and each block, to its end or that of the text.

    A tag whose block is longer than `_LONGEST_BLOCK` is no block.
    """
    closings: dict[str, list[re.Match[str]]] = defaultdict(list)
    for closing in _CLOSING.finditer(text):
        closings[closing["tag"].lower()].append(closing)
    kept: list[str] = []
    done = at = 0
    while found := _POSING.search(text, at):
        at = end = found.end()
        if found["tag"]:
            ends = closings[found["tag"].lower()]
            following = bisect_left(ends, at, key=lambda closing: closing.start())
            closed = following < len(ends)
            if (ends[following].start() if closed else len(text)) - at > _LONGEST_BLOCK:
                at = found.start() + 1
                continue
            at = end = ends[following].end() if closed else len(text)
        kept += [text[done : found.start()], " "]
        done = end
    return "".join([*kept, text[done:]])


def is_command(*, text: str) -> bool:
    """Returns whether a sentence tries to steer the memory or the agent's rules."""
    return bool(_COMMAND.search(text))


def _any(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_OPENINGS = (block.opening.split("\n")[0] for block in SEVEN_LAYERS.blocks if block.opening)
_TITLES = [each.strip("# ") for each in (*HEADINGS, SAID_HEADING, *PARTS, *_OPENINGS)]
_NOTICES = [
    sentence.strip()
    for notice in (NOTICE, USE, AUTHORITATIVE, ADVICE)
    for sentence in notice.split(". ")
]
_NEWS = NEWS.partition(" ")[2]
_LABEL = rf"\[(?:{_any((*LABELS, SUMMARY_LABEL))})\b[^\[\]\n]{{0,300}}\](?=:)"
_HEADING = re.compile(rf"[\s>*_]*(?:#+\s*(?:{_any(_TITLES)})|\**(?:{_any(_TITLES)})\**)[\s:*_#]*$")
_NOTICE = re.compile(rf"(?:{_any(_NOTICES)})\.?".replace(r"\ ", r"\s+"))
# What begins our part of a line, and the remark that ends it.
_OURS = re.compile(
    rf"#+\s*(?:{_any(_TITLES)})|{_LABEL}|(?:\w+ )?{_NEWS} \d+:|(?:{_any(Kind)}): \["
    rf"|^[\s>*_#-]*(?:(?:{_any(label for label in LABELS if '-' in label)}):"
    rf"|(?:{_any(DATED_LABELS)}) \d{{4}}-\d\d-\d\d)"
)
_REMARK = re.compile(
    r"\((?:importance: \d{1,2}(?:, confidence: [01](?:\.\d+)?)?|\d{1,3}% success, \d+ uses?"
    r"|contradicts: [^\n]{0,1200})\)[.!]?"
)
_SIGNS = ("#", "[", _NEWS, "(importance: ", "% success, ", "(contradicts: ", *LABELS, *_TITLES)
_SIGNS += tuple(sentence[-20:] for sentence in _NOTICES)


def _without_own_prompts(text: str) -> str:
    """The text without any prompt of ours, on its lines or run together.

    From a first heading to a last one all is ours; what stands right below a heading is; and so is
    each line with a label or a remark of ours.
    """
    if not any(sign in text for sign in _SIGNS):
        return text
    if "\\n" in text and _OURS.search(text):
        # A prompt copied out of a JSON answer.
        text = text.replace("\\n", "\n")
    lines = _NOTICE.sub(" ", text).splitlines()
    headings = [at for at, line in enumerate(lines) if _HEADING.match(line)]
    if len(headings) > 1 or any("#" in lines[at] for at in headings):
        end = headings[-1] + 1
        while end < len(lines) and lines[end].strip(" \t>*"):
            end += 1
        lines = [*lines[: headings[0]], *lines[end:]]
    return "\n".join(own for line in lines if (own := _own_words(line)) or not line.strip())


def _own_words(line: str) -> str:
    found = _OURS.search(line)
    if found:
        return line[: found.start()].rstrip(" >*_-")
    remarks = list(_REMARK.finditer(line))
    return line[remarks[-1].end() :] if remarks else line
