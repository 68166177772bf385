"""Headings in front of a sentence ("Call notes from Tessera: …") and the topic they set."""

from __future__ import annotations

import re

from ..days.date_expressions import DATE_EXPRESSION
from ..language.names import names_in
from ..language.syntax import has_verb

_HEADING = re.compile(
    r"^(?:(?:a\s)?(?:quick\s|short\s|small\s|brief\s|little\s)?(?:update|news|notes?|call\snotes|"
    r"meeting\snotes|minutes|summary|recap|details|status|report|feedback|some\s\w+|facts|info)\s"
    r"(?:on|from|about|for|of|re)\s(?:the\s(?:call|meeting|chat|visit)\swith\s)?|"
    r"(?:(?:i['’]m\s|i\sam\s)?(?:just\s|fresh\s|straight\s)?(?:off\sthe\s(?:phone|call|line)|out\sof\s(?:a|the)\s(?:meeting|call|"
    r"demo|workshop)|back\sfrom(?:\sa\s\w+)?)\s(?:with|at)?\s?|(?:i\s)?(?:just\s)?(?:spoke|talked|chatted|met)\s(?:to\s|with\s)?|"
    r"(?:phoned|called|visited|saw)\s)(?=(?-i:[A-Z])[^:,.]{2,40}:\s)|"
    r"(?:(?:call|meeting|visit)\s)?(?:notes|minutes|summary|recap|update)\s(?=(?-i:[A-Z]))|"
    r"(?:about|regarding|re|on|for|as\sfor|concerning)\s|(?=(?:the|our)\s(?:[\w-]+\s){0,4}[\w-]+:\s))"
    r"(?P<topic>[^:,.;?!]{2,50}?)\s?(?::|,|\s[–—-]\s)\s*",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\s(?:before\si\sforget|again|real(?:ly)?\squick\w*|if\sI\smay)$", re.IGNORECASE
)
_TOPIC_DATE = re.compile(
    r"\s(?P<when>(?:on|next|this|in|coming|tomorrow|from)\b.*)$", re.IGNORECASE
)
_PLAIN_HEADING = re.compile(
    r"^(?:for|about|re|regarding|as\sfor|on)\s(?:the|our|my)\s(?!record\b|handbook\b|wiki\b|"
    r"notes\b|minutes\b|file\b|docs\b|future\b)"
    r"(?P<topic>(?:[a-z-]+\s){0,2}[a-z-]+):\s",
    re.IGNORECASE,
)

# "Kick-off notes for Heron." as a sentence of its own.
_HEADING_ALONE = re.compile(
    r"(?i:(?:(?:my|our|the|some|quick|short)\s)?(?:[\w-]+\s)?(?:notes?|minutes|summary|recap|update|brief|"
    r"facts|details|outcome|results|agenda|status)\s(?:for|on|from|about|of)\s(?:the\s)?)"
    r"(?P<topic>[A-Z][\w&’'-]*(?:\s[A-Z&][\w&’'-]*){0,3})[.:!]?"
)
_CALLED_AFTER = re.compile(
    r"(?:the\s)?(?P<name>(?:[A-Z][\w-]+\s){1,3})(?:call|meeting|visit|chat|workshop|"
    r"kickoff|kick-off|review|sync)$"
)


# "Just off the phone with Orsolya of Delmont Ferries."
_MET = re.compile(
    r"(?i:(?:(?:i['’]m|i\sam|i['’]ve|i|we)\s)?(?:just\s|fresh\s|straight\s)?(?:(?:got\s)?off\sthe\s(?:phone|call|line)|out\sof\s(?:a|the)\s"
    r"(?:meeting|call|demo|workshop)|back\sfrom\s(?:a\s)?(?:\w+\s)?|spoke|talked|chatted|had\s(?:a|the)\s(?:call|chat|meeting))\s(?:with|to|at)\s)"
    r"(?P<who>[A-ZÀ-Þ][\w’'-]+(?:\s[A-ZÀ-Þ][\w’'-]+)?)\s(?:of|from|at)\s(?:the\s)?(?P<body>[A-ZÀ-Þ][\w&’'-]*(?:\s[A-ZÀ-Þ&][\w&’'-]*){0,3})[.!:]?"
)


# "Customer call with Varga Foods, minutes please: …"
_HELD_WITH = re.compile(
    r"(?i:(?:(?:the|our|a|my|quick|minutes\sof\sthe|notes\sfrom\sthe)\s){0,2}(?:[\w-]+\s)?(?:call|meeting|visit|workshop|chat|kick-?off)\swith\s(?:the\s)?)"
    r"(?P<topic>[A-ZÀ-Þ][\w&’'-]*(?:\s[A-ZÀ-Þ&][\w&’'-]*){0,3})(?:,\s[a-z][\w\s]{2,30})?:\s"
)


def met_with(*, text: str) -> tuple[str, str] | None:
    """The person and the organisation that a sentence says was just spoken to, or None."""
    match = _MET.fullmatch(text)
    return (match.group("who"), match.group("body")) if match else None


def heading_of(*, text: str) -> tuple[str, str, bool] | None:
    """The topic that a heading sets, the sentence without it, and whether the topic has a name.

    None where the sentence has no heading; a date in the heading moves to the end of the sentence.
    """
    held = _HELD_WITH.match(text)
    if held:
        return held.group("topic"), text[held.end() :], True
    alone = _HEADING_ALONE.fullmatch(text)
    if alone:
        return alone.group("topic"), "", True
    match = _HEADING.match(text)
    plain = _PLAIN_HEADING.match(text)
    if plain and (match is None or not names_in("of " + match.group("topic"))):
        return "the " + plain.group("topic").lower(), text[plain.end() :], False
    if match is None:
        return None
    topic = _ASIDE.sub("", match.group("topic").strip())
    if not match.start("topic") and has_verb(text=topic):
        return None
    separator = match.group()[len(match.group().rstrip(": ,–—-")) :]
    about = re.match(r"(?:about|as\sfor|regarding)", text, re.IGNORECASE)
    if not names_in("of " + topic) or (":" not in separator and not about):
        return None
    called = _CALLED_AFTER.match(topic)
    topic = called.group("name").strip() if called else topic
    topic = "the " + topic[4:] if topic.startswith("The ") else topic
    rest = text[match.end() :]
    when = _TOPIC_DATE.search(topic)
    if when and DATE_EXPRESSION.search(when.group("when")):
        topic = topic[: when.start()]
        rest = f"{rest.rstrip('. ')}, {when.group('when')}"
    return topic, rest, True
