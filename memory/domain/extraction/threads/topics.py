"""Naming the conversation's topic in a sentence that leaves it out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from ..drafts import lowered
from ..language.names import names_in
from ..language.words import capitalised, words_of
from .mentions import Mention

_TOPIC_NOUN = re.compile(
    r"^(?:the\s)?(?P<np>(?:[a-z-]+\s){0,2}?(?:stack|budget|deadline|owner|partner|contact|maker|"
    r"manager|lead|client|team|price|launch|date|start|contract|goal|domain|server|database|repo|"
    r"repository|host|language|framework|designer|developer|vendor|supplier|venue|audience|sponsor|"
    r"office|theme|scope|size|port|url|code|key|version|region|provider|licence|license|capacity|"
    r"address|plan))\s(?:is|are|was|has)\b",
    re.IGNORECASE,
)
_HOSTED = re.compile(
    r",\s(?P<part>hosted|based|located|written|built|deployed|maintained|owned|run)\s"
    r"(?P<rest>(?:in|on|by|with|at)\s.+)$"
)
_REACH = 6
_OPENING = 4


@dataclass(frozen=True, slots=True)
class OnTopic:
    """A sentence with its topic named; `sources` are the messages that named it."""

    text: str
    about: str = ""
    sources: tuple[UUID, ...] = ()


def with_topic(*, text: str, topic: Mention | None, turn: int) -> OnTopic:
    """The sentence with the topic in it, in the most natural of three ways.

    "the bid" becomes "the Varberg bid", "the stack is" becomes "Juniper's stack is", and anything
    else opens with "For Juniper, ". A topic more than six turns old is left alone.
    """
    if topic is None:
        return OnTopic(text)
    if _mentions(text, topic.name):
        return OnTopic(text, topic.name)
    head = topic.name.split()[-1]
    source = (topic.source,)
    if head.islower():
        short = re.search(rf"(?i)\b(?:the|our|its)\s{re.escape(head)}\b(?!['’])", text)
        if short:
            name = topic.name if short.start() else capitalised(topic.name)
            return OnTopic(text[: short.start()] + name + text[short.end() :], topic.name, source)
    if turn - topic.turn > _REACH:
        return OnTopic(text)
    hosted = _HOSTED.search(text)
    if hosted and not any(char.isdigit() for char in hosted.group()):
        text = f"{text[: hosted.start()]}; it is {hosted.group('part')} {hosted.group('rest')}"
    noun = _TOPIC_NOUN.match(text)
    if noun:
        owned = text[noun.start("np") :]
        owned = owned if owned[:2].isupper() else owned[:1].lower() + owned[1:]
        return OnTopic(f"{topic.name}'s {owned}", topic.name, source)
    first = names_in(text)[:1]
    opens = first and text.find(first[0]) < _OPENING
    if opens and not topic.is_heading and f"{first[0]}:" not in text:
        # "Gerrit is on his phone" says by itself whom it is about.
        return OnTopic(text)
    return OnTopic(f"For {topic.name}, {lowered(text)}", topic.name, source)


def _mentions(text: str, name: str) -> bool:
    """Whether a text names the topic, in whole or by one of its proper words."""
    words = set(words_of(name)) - {"the", "new"}
    proper = {word for word in words if word.capitalize() in name} or words
    said = set(re.split(r"[^\w]+", text.lower()))
    return bool(proper & said) or name.lower() in text.lower()
