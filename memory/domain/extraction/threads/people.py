"""Whom "she" and "he" mean: of those who were spoken of, the one that fits, or nobody."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ..language.genders import Gender, gender_of, is_given_name
from ..language.names import is_person
from ..language.verbs import THIRD, is_finite
from ..language.words import ADVERBS, ORG_SUFFIXES, PEOPLE_NOUNS, PETS, word_set, words_of
from .mentions import Mention

PLACE_PREPOSITIONS = word_set(
    "in at outside on to near into via of inside within across through over under around"
)
BESIDE = word_set("to at from with for by of than like in on near into joining left leaving")
# What somebody quits, buys or uses is no person, nor is what is called by its owner's "my".
OF_THINGS = word_set(
    "quit quits join joins joined leave leaves left buy buys bought use uses used drive drives "
    "drove sell sells sold rent rents own owns install installed visit visits visited founded the "
    "a an my our his her their your"
)
# But people who have a known name are left and visited.
_OF_PEOPLE = word_set(
    "quit quits join joins joined leave leaves left own owns visit visits visited founded my our "
    "his her their your"
)
# "with Thomas", "with his girlfriend Carla": where the sentence only passes by.
_PASSED_BY = re.compile(
    rf"\b(?:{'|'.join(sorted(BESIDE))})\s"
    r"(?:(?:(?:the|my|our|his|her|their)|[\w-]+['’]s)\s(?:[\w-]+\s){1,2})?$",
    re.IGNORECASE,
)
# "is from Malta", "a tutor from Vietnam": where somebody comes from is nobody.
_ORIGIN = re.compile(
    r"(?:['’]s|\b(?:is|are|was|were|comes?|came|originally|hails?|arrived|moved|over|back|here|"
    rf"girl|boy|guy|woman|man|lady|people|{'|'.join(sorted(PEOPLE_NOUNS | PETS))}))"
    r"\sfrom\s(?:the\s)?$",
    re.IGNORECASE,
)
_KEPT = 16
# A bare name that may be anything gives way to a person who was named up to a turn before.
_MAYBE_LEAD = 1
_PRONOUNS = {
    "she": Gender.SHE, "her": Gender.SHE, "he": Gender.HE, "him": Gender.HE, "his": Gender.HE,
}  # fmt: skip


def is_origin(*, before: str) -> bool:
    """Whether the words before a name make it the place that somebody comes from."""
    return bool(_ORIGIN.search(before))


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody a sentence names.

    `is_sure` says that it is a person and no mere name, `is_beside` that the sentence tells where
    somebody else is or whom somebody else is with, so that this one is hardly meant next;
    `is_subject`, that a verb follows; `is_joined`, that an "and" or "or" stands before.
    """

    mention: Mention
    is_sure: bool = True
    is_beside: bool = False
    is_subject: bool = False
    is_joined: bool = False


class People:
    """The people of one conversation, the latest last."""

    def __init__(self) -> None:
        self._named: list[Person] = []
        self._genders: dict[str, Gender] = {}

    def add(
        self, mention: Mention, *, text: str = "", is_sure: bool = True, is_beside: bool = False
    ) -> None:
        """Learn of somebody whom `text` names."""
        gender = gender_of(name=mention.name, text=text)
        if gender:
            self._genders[mention.name] = gender
        head, _, after = text.partition(mention.name)
        verb = next((word for word in words_of(after[:30]) if word not in ADVERBS), "")
        acts = is_finite(word=verb) or verb in THIRD
        joined = words_of(head)[-1:] in (["and"], ["or"])
        person = Person(mention, is_sure, is_beside, acts, joined)
        self._named = [*self._named[-_KEPT:], person]

    def see(
        self, mention: Mention, *, text: str, is_aside: bool = False, is_bare: bool = False
    ) -> None:
        """Learn of a name in `text`, where it is a person's, or with `is_bare` in any case.

        `is_aside` says that the sentence is known to be about somebody else.
        """
        name, at = mention.name, text.find(mention.name)
        if is_origin(before=text[max(0, at - 40) : at]):
            return
        before = text[max(0, at - 40) : at]
        placed = set(words_of(before)[-1:]) & (PLACE_PREPOSITIONS | OF_THINGS - _OF_PEOPLE)
        is_body = name.split()[-1].lower() in ORG_SUFFIXES
        known = is_given_name(name=name) and not placed and not is_body
        is_sure = is_person(name, text=text) or known
        if is_sure is is_bare:
            return
        owns = text[at + len(name) : at + len(name) + 2] in {"'s", "’s"}
        passed = _PASSED_BY.search(before) and any(
            person.mention.order == mention.order for person in self._named
        )
        self.add(mention, text=text, is_sure=is_sure, is_beside=is_aside or owns or bool(passed))

    def knows(self, name: str) -> bool:
        """Whether a name is surely a person's."""
        return any(each.is_sure and each.mention.name == name for each in self._named)

    def meant(self, *, pronoun: str, role: Mention | None = None) -> Mention | None:
        """Whom a pronoun means; None where nobody fits, or two do.

        `role` is somebody spoken of by their trade, who is meant where no name came later.
        """
        wanted = _PRONOUNS.get(pronoun, Gender.UNKNOWN)
        fitting = [person for person in self._named if self._fits(person.mention, wanted)]
        named_since = any(person.mention.turn >= role.turn for person in fitting) if role else True
        if role and self._fits(role, wanted) and not named_since:
            return role
        sure = [person for person in fitting if person.is_sure]
        maybe = [person for person in fitting if not person.is_sure]
        later = maybe and sure and maybe[-1].mention.turn > sure[-1].mention.turn + _MAYBE_LEAD
        found = self._salient(maybe if later or not sure else sure)
        if found and wanted:
            self._genders.setdefault(found.name, wanted)
        return found

    def _fits(self, mention: Mention, wanted: Gender) -> bool:
        known = self._genders.get(mention.name, Gender.UNKNOWN) or gender_of(name=mention.name)
        return not known or not wanted or known is wanted

    def _salient(self, people: Sequence[Person]) -> Mention | None:
        """The one whom the last sentence that names any of them is about.

        Of two who fit, its subject, where that is more than the order of words.
        """
        if not people:
            return None
        order = people[-1].mention.order
        last = [each for each in people if each.mention.order == order]
        if len({each.mention.name for each in last}) > 1:
            last = [each for each in last if not each.is_beside]
        if len({each.mention.name for each in last}) > 1:
            if not last[0].is_sure:
                # What a bare name does may be done by a firm ("Zenith hired Okoro").
                return None if last[-1].is_joined else last[-1].mention
            before = {each.mention.name for each in people if each.mention.order < order}
            last = [
                each for each in last if each.is_subject and self._stands_out(each, last, before)
            ]
        return last[0].mention if len({each.mention.name for each in last}) == 1 else None

    def _stands_out(self, one: Person, last: Sequence[Person], before: AbstractSet[str]) -> bool:
        """Whether a subject alone is spoken of already, or alone is known to fit."""
        names = {each.mention.name for each in last} - {one.mention.name}
        if one.mention.name in before:
            return not names & before
        known = self._genders.keys()
        return one.mention.name in known and not names & (known | before)
