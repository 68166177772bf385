"""The "I" that casual speech leaves out."""

from __future__ import annotations

import re

from .verbs import IRREGULAR_PAST, UNMARKED, is_past_form
from .words import DETERMINERS, word_set

_NOT_NEEDED = word_set("me to of is help advice assistance support your you")
_WISHED = word_set("new birthday easter holidays anniversary friday monday weekend christmas")
_SUBJECTLESS = re.compile(
    r"^(?P<adv>(?:(?:just|finally|recently|also|already|actually|"
    r"only)\s)*)(?P<verb>[a-z]+(?:['’]t)?)\s(?P<next>[\w'’-]+)",
    re.IGNORECASE,
)


def with_subject(*, text: str) -> str:
    """The sentence with the "I" that casual speech leaves out ("Just got back from …")."""
    match = _SUBJECTLESS.match(text)
    if match is None:
        return text
    verb, following = match.group("verb").lower(), match.group("next").lower()
    if verb in {"was", "were"} and match.group("next")[0].isupper():
        # "Was Hendrik.": the answer to a question, and not the speaker.
        return text
    rest = text[match.start("verb") :]
    rest = rest[:1].lower() + rest[1:]
    adverb = match.group("adv").lower()
    if verb == "been":
        return f"I've {adverb}{rest}"
    if verb in {
        "gonna",
        "glad",
        "happy",
        "excited",
        "thrilled",
        "thinking",
        "planning",
        "hoping",
        "looking",
        "working",
        "so",
    } and following not in _WISHED | {"is", "was"}:
        return text if verb == "so" else f"I'm {adverb}{rest}"
    irregular = (
        verb in IRREGULAR_PAST
        and verb not in UNMARKED
        and verb
        not in {"left", "set", "built", "made", "found", "written", "lost", "sold", "held", "felt"}
    )
    regular = (
        verb.endswith("ed") and is_past_form(word=verb) and following in DETERMINERS | {"up", "out"}
    )
    if verb in {"need", "want", "prefer"} and following not in _NOT_NEEDED:
        return f"I {adverb}{rest}"
    if ((irregular or regular) and following not in {"by", "is", "are", "was"}) or verb in {
        "can't",
        "couldn't",
        "didn't",
    }:
        return f"I {adverb}{rest}"
    return text
