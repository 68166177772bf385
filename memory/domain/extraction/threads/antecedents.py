"""Which names a pronoun may mean later, and what "it" and "they" mean of those spoken of."""

from __future__ import annotations

import re

from ..language.names import are_several, names_in
from ..language.pronouns import EXPLETIVE
from ..language.words import MONTHS, WEEKDAYS, word_set
from .company import Company
from .mentions import Mention
from .somebody import is_done_by_somebody, may_be_somebody

_TITLES = frozenset(
    {"Dr", "Prof", "Mr", "Mrs", "Ms", "Sir", "Miss", "Herr", "Frau", "Madame", "Monsieur"}
)
_NO_ANTECEDENTS = word_set(
    "easter christmas ramadan halloween thanksgiving hanukkah diwali advent lent pentecost eid "
    "utc gmt cet cest pst pdt est edt cst mst bst ist jst aest eet wet english german french dutch "
    "spanish italian portuguese swedish norwegian danish finnish polish pm am"
)
# "It's on Monday", "it starts at 5"
_IS_WHEN = re.compile(
    r"(?:['’]s|\s(?:is|was|will\sbe|starts|begins|ends))\s(?:now\s|then\s|only\s)?"
    r"(?:(?:on|from|until|at)\s(?:the\s)?\d|(?:(?:on|from|until)\s)?(?:this|next|tomorrow|today|tonight|"
    rf"{'|'.join((*WEEKDAYS, *MONTHS))})\b)",
    re.IGNORECASE,
)
# "They sent them": two groups, of which things can be one.
_DO_THEM = re.compile(r"(?:['’]\w+)?\s(?:\w+\s){1,2}?them\b", re.IGNORECASE)
# "Their son Nico" after "Giulia is pregnant"
_KIN_OF = re.compile(
    r"\s(?:\w+\s)?(?:sons?|daughters?|kids?|children|bab(?:y|ies)|twins|wedding)\b"
)


def names_meant(*, text: str, speakers: frozenset[str]) -> list[str]:
    """The names in a sentence that a later pronoun may mean, in their order.

    No speaker is meant, nor one name of several, nor a feast, language, time zone or title.
    """
    return [
        name
        for name in names_in(text)
        if not {name, name.split()[-1]} & speakers
        and name.lower() not in _NO_ANTECEDENTS
        and name not in _TITLES
        and not are_several(name=name, text=text)
    ]


def meant_by_they(
    *,
    rest: str,
    noun: Mention | None,
    named: Mention | None,
    company: Company,
    topic: Mention | None,
    person: Mention | None,
) -> Mention | None:
    """Whom or what a "they" before `rest` means; None for nobody who was spoken of.

    `noun` is the last thing, `named` the last body with a name, `company` who was spoken of by what
    they are. What only somebody does, no thing does.
    """
    group = named or company.body or topic
    if is_done_by_somebody(rest=rest) or _DO_THEM.match(rest):
        noun = noun if noun and may_be_somebody(name=noun.name) else None
        is_body = group and (group is not topic or group.is_heading)
        group = group if is_body or (group and may_be_somebody(name=group.name)) else None
    if company.several and (group is None or company.several.when >= group.when):
        return company.several
    if group is None and person and _KIN_OF.match(rest):
        return person
    if noun and noun.name.endswith("s") and (group is None or noun.when > group.when):
        return noun
    return group


def meant_by_it(
    *,
    pronoun: str,
    rest: str,
    noun: Mention | None,
    thing: Mention | None,
    topic: Mention | None,
    person: Mention | None,
    maybe_person: Mention | None,
) -> Mention | None:
    """What an "it" or "its" before `rest` means; None for nothing that was spoken of.

    `noun` is the last thing with a noun, `thing` the last one with a name, which `person` and
    `maybe_person` may be.
    """
    if pronoun == "it" and EXPLETIVE.match(rest):
        return None
    if pronoun == "it" and _IS_WHEN.match(rest) and noun and thing:
        # "I got an interview at Bosch. It's on Monday.": no firm is on a day.
        return noun if noun.when >= thing.when else thing
    if pronoun == "it" and thing and person and thing == person:
        return noun or topic
    if thing and topic and thing.turn < topic.turn:
        return topic
    named = thing or topic
    if (
        noun
        and pronoun == "it"
        and not (noun.name.endswith("s") and not noun.name.endswith("ss"))
        and (named is None or noun.when > named.when or named == maybe_person)
    ):
        return noun
    return named
