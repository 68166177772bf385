"""Values said anew in free words: "Ten, I forgot the foal", "they cut it to 6k", "used to"."""

from __future__ import annotations

import re
from dataclasses import replace

from ...types import Role
from ..clauses import opens_clause
from ..days.date_expressions import DATE_EXPRESSION
from ..language.syntax import has_verb
from ..language.words import content_words, word_set, words_of
from .correction_words import ANNOUNCES, HELD_AT, RECORDS, VALUES
from .dialogue import Unit
from .second_thoughts import SecondThoughts
from .splices import joined, replaced, stems
from .value_spots import counts_the_same, value_alone, value_spot

# Words that tell that what follows, or stands before them, puts something right.
_CUE = re.compile(
    r"\b(?:sorry|oops|whoops|wait|actually|correction|typo|i\smean|i\smeant|scratch\sthat|strike\sthat|make\s(?:it|that)|"
    r"change\sof\splans?|after\sall|instead|rather|by\snow|now|my\s(?:mistake|bad)|wrong\sway\sround|to\sbe\s(?:exact|precise)|"
    r"(?:looked|checked|counted|asked)\b|on\ssecond\sthoughts?|i\sforgot|let['’]s\ssay|hang\son|hold\son|or\srather|in\sfact|let\sme\s(?:check|see|look)|should\sbe|it\sshould\sread|"
    r"(?:they|she|he|marketing|it)\s(?:just\s)?(?:says?|wrote|called))\b|^no\b",
    re.IGNORECASE,
)
# The cues by which a speaker surely puts right what they said, and does not go on.
_SURE = re.compile(
    r"\b(?:sorry|oops|whoops|wait|actually|correction|typo|i\smeant?|(?:scratch|strike)\sthat|make\s(?:it|that)|"
    r"change\sof\splans?|instead|rather|my\s(?:mistake|bad)|second\sthoughts?|i\sforgot|let['’]s\ssay|(?:hang|hold)\son|"
    r"should\s(?:be|read)|by\snow|now|used\sto)\b|^no\b",
    re.IGNORECASE,
)
_LOOKED_AT = re.compile(
    r"\b(?:looked|checked|asked|read|saw)\s(?:at\s|up\s|in\s|on\s|about\s)?(?P<what>[^,:;.–—]{2,40})",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:(?:oh|no|ah|hm+|ok|and|but|ugh|argh|gah|er+|uh|um|so|well|let\sme\s(?:check|see|look)|(?:that|it)\sshould\s(?:be|read)|let['’]s\smake\s(?:it|that)|"
    r"half\san\shour\s(?:later|earlier)|hang\son|hold\son|wait|actually|sorry|oops|whoops|correction(?:\sfrom\s[^:]{2,20})?|"
    r"i\s(?:mean|meant)(?:\sto\s(?:say|write))?|make\s(?:it|that)|let['’]s\ssay|change\sof\splans?|scratch\sthat|strike\sthat|typo|"
    r"on\ssecond\sthoughts?|in\sfact|or\srather|rather|it['’]s|it\sis|that['’]s|they['’]re|(?:i\s)?(?:looked|checked)\b[^,:]{0,20}|"
    r"(?:it|she|he|they)\s(?:just\s)?(?:says?|wrote)|more\slike)\b[\s,.:;!–—-]*)+",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:[\s,–—-]+(?:sorry|actually|instead|rather|by\snow|now|then|after\sall|though|please|to\sbe\s(?:exact|precise)|"
    r"my\s(?:mistake|bad)|wrong\sway\sround|of\scourse|in\sfact|today|it\sis|i\smean|i\smeant))+[.!]*$",
    re.IGNORECASE,
)
_CHANGED_TO = re.compile(
    r"\b(?:cut|raised|lowered|changed|moved|pushed|renamed|switched|bumped|put|set|increased|reduced|shifted|upped|"
    r"extended|shortened|brought)\s(?:(?:it|that|this|them|us|me)\s)?(?:back\s|forward\s|down\s|up\s)?(?:to|until)\s(?P<value>[^,;.]{1,30})",
    re.IGNORECASE,
)
_IT_CHANGED = re.compile(
    r"\b(?:it|that|this|them|us|me)\b|\b(?:it|that)(?:['’]s|\shas)\sbeen\b|^(?:moved|pushed|raised|changed|cut)\b",
    re.IGNORECASE,
)
_NOT_BUT = re.compile(
    r"^(?:no,?\s)?not\s(?:the\s)?(?P<old>[\w’'-]+(?:\s[\w’'-]+)?),\s(?:the\s)?(?P<new>[\w’'-]+(?:\s[\w’'-]+)?)(?=[.!,]|$)",
    re.IGNORECASE,
)
# "She left, it's Mr Abe now", "since the reorg it's Connor", "so now it's Gneiss".
_NOW_IT_IS = re.compile(
    r"\b(?:it['’]s|it\sis)\s(?P<a>[^,.;]{2,30}?)\s(?:now|nowadays|these\sdays)\b|\bnow\s(?:it['’]s|it\sis)\s(?P<b>[^,.;]{2,30})|"
    r"\bsince\s[^,.;]{3,25}?,?\s(?:it['’]s|it\sis|it\shas\sbeen)\s(?P<c>[^,.;]{2,30})",
    re.IGNORECASE,
)
_USED_TO = re.compile(
    r"^(?:(?:well|actually|hm+|oh|no|or)[\s,]+)*(?:(?:i|we)\s)?used\sto(?:\s\w+)?(?P<rest>(?:[.,!;–—-].*)?)$",
    re.IGNORECASE,
)
_I_DO = re.compile(r"^(?P<who>I|We)\s(?P<verb>[a-z]+)\b", re.IGNORECASE)
_STARTS_WITH_VALUE = re.compile(
    r"(?:the\s|on\s|at\s|only\s|about\s)*(?:[$€£]?\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:one|two|three|four|five|six|seven|eight|nine|ten|"
    r"eleven|twelve|twenty|thirty|once|twice)\b)",
    re.IGNORECASE,
)
_MEANT = re.compile(
    r"\bi\smean|\bcorrection\b|\bshould\sbe\b|\btypo\b|\b(?:changed|renamed|moved|switched)\b",
    re.IGNORECASE,
)
_ASKS_FOR_VALUE = re.compile(r"(?:and\s|so\s)?(?:how|what|which|when|where|who)\b", re.IGNORECASE)
_DAY_OF_TODAY = re.compile(r"(?:\w+day|\d(?:st|nd|rd|th)?)\stoday\b", re.IGNORECASE)
_PLACE = re.compile(r"(?:at|in)\s(?:(?:the|my|our)\s)?[\w’'-]+", re.IGNORECASE)
# "I forgot the foal", "that was last year": only why it was said wrong.
_ACCOUNTS = word_set("i we you it that this they he she there what my")
_FEW_WORDS = 5
_PRESENTS = re.compile(r"\b(?:call\sme|my\sname|i\sgo\sby|i['’]m\s(?-i:[A-Z]))", re.IGNORECASE)
_HEAD_WORDS = 5
_TURNS = 4
_FAR_TURNS = 8


class Restatements(SecondThoughts):
    """The units of one conversation, and the revisions that name no old value."""

    def _said_anew(self, index: int, unit: Unit) -> bool:
        """Put a value that is said anew in the place of the last one of its kind."""
        if self._no_longer(index, unit) or self._not_but(index, unit):
            return True
        now = _NOW_IT_IS.search(unit.text)
        around = unit.text.replace(now.group(), " ") if now else ""
        if now and (
            len(content_words(unit.text)) > _FEW_WORDS or opens_clause(text=around.strip())
        ):
            now = None
        echoed = self._echo(index, unit)
        value = (now.group("a") or now.group("b") or now.group("c")) if now else ""
        value = value or _new_value(unit.text, cued=bool(echoed) and not unit.place)
        if not value:
            return False
        if self._held_elsewhere(index, unit, value):
            return True
        is_sure = bool(_SURE.search(unit.text))
        if not is_sure and not unit.place and _ASKS_FOR_VALUE.match(unit.question):
            return False
        for kind, _ in VALUES:
            new = value_alone(kind=kind, value=value)
            if new is None:
                continue
            near = self._earlier(index, 6)
            alike = [
                position for position in near
                if kind == "number" and (held := self._units[position])
                and counts_the_same(text=held.text, new=new, value=value)
            ]  # fmt: skip
            reach = _FAR_TURNS if alike and is_sure else _TURNS
            for position in alike or near:
                target = self._units[position]
                if (
                    target is None
                    or unit.turn - target.turn > reach
                    or target.question == unit.text
                ):
                    continue
                if now and _PRESENTS.search(target.text):
                    continue
                if not is_sure and _of_another_subject(unit.text, target.text):
                    continue
                spot = value_spot(
                    kind=kind, text=target.text, new=new, value=value, is_sure=is_sure
                )
                if spot is None:
                    continue
                start, end, wording = spot
                old = target.text[start:end]
                named = old in unit.text + echoed or old[:3] == new[:3]
                last = bool(now) and position == self._earlier(index, 1)[0]
                if kind == "name" and not (named or last or _MEANT.search(unit.text)):
                    continue
                bare = kind in {"number", "frequency"} or wording.startswith("The ")
                said = wording.lower() if bare and start else wording
                text = replaced(target.text, start, end, said)
                self._units[position] = joined(target, unit, text, target.at)
                rest = _rest(unit.text, value)
                self._units[index] = replace(unit, text=rest) if rest else None
                self._drop_account_of(index, old)
                return True
            if kind != "name":
                return False
        return False

    def _echo(self, index: int, unit: Unit) -> str:
        """What the other side just said without asking: a bare value then corrects it."""
        if unit.question:
            return ""
        before = [
            each.text
            for each in self._units[max(0, index - 4) : index]
            if each and each.role is Role.ASSISTANT and each.turn == unit.turn - 1
        ]
        return " ".join(before)

    def _held_elsewhere(self, index: int, unit: Unit, value: str) -> bool:
        """ "Change of plan: it's at the boathouse": the place said before gives way."""
        if not _PLACE.match(value) or any(char.isdigit() for char in value):
            return False
        for position in self._earlier(index, 6):
            target = self._units[position]
            spot = HELD_AT.search(target.text) if target else None
            if target is None or spot is None or unit.turn - target.turn > _TURNS:
                continue
            text = replaced(target.text, *spot.span(), value)
            self._units[position] = joined(target, unit, text, target.at)
            self._units[index] = None
            return True
        return False

    def _drop_account_of(self, index: int, old: str) -> None:
        """ "No, once a day. Twice was before": what only explains the old value goes as well."""
        unit = self._units[index + 1] if index + 1 < len(self._units) else None
        first = words_of(old)[:1]
        if unit and first and words_of(unit.text)[:1] == first and not first[0].isdigit():
            self._units[index + 1] = None

    def _not_but(self, index: int, unit: Unit) -> bool:
        """ "Not walnuts, hazelnuts!": the denied word gives way to the other."""
        match = _NOT_BUT.match(unit.text)
        for position in self._earlier(index, 6) if match else ():
            target = self._units[position]
            at = (
                target
                and match
                and re.search(rf"\b{re.escape(match.group('old'))}\b", target.text, re.I)
            )
            if not (target and match and at):
                continue
            text = replaced(target.text, at.start(), at.end(), match.group("new"))
            self._units[position] = joined(target, unit, text, target.at)
            self._units[index] = None
            return True
        return False

    def _no_longer(self, index: int, unit: Unit) -> bool:
        """ "Used to, I gave it up": what was told as it is becomes what was."""
        match = _USED_TO.match(unit.text)
        near = self._earlier(index, 1) if match else []
        target = self._units[near[0]] if near else None
        doing = _I_DO.match(target.text) if target else None
        if match is None or target is None or doing is None or unit.turn - target.turn > 2:
            return False
        was = f"{doing.group('who')} used to {doing.group('verb')}{target.text[doing.end() :]}"
        rest = match.group("rest").strip(" .!;–—-")
        text = f"{was.rstrip('.! ')}{rest if rest[:1] == ',' else ''}."
        self._units[near[0]] = joined(target, unit, text, target.at)
        self._units[index] = None
        return True


def _new_value(text: str, *, cued: bool) -> str:
    """The words that hold a new value in a sentence that puts something right, or ""."""
    changed = _CHANGED_TO.search(text)
    if changed and _IT_CHANGED.search(text):
        return DATE_EXPRESSION.sub("", changed.group("value")).strip()
    # After an echo a value alone corrects it; only values with figures are sure to be one.
    bare = cued and _STARTS_WITH_VALUE.match(_LEADING.sub("", text))
    if not (_CUE.search(text) or bare) or text.endswith("?") or _DAY_OF_TODAY.search(text):
        return ""
    body = _LEADING.sub("", text).strip()
    head = re.split(r",\s|\s[–—-]\s|;\s|\.\s|\ssince\s", body, maxsplit=1)[0]
    head = _TRAILING.sub("", head.rstrip(".! ")).strip(" ,")
    if (
        not head
        or ANNOUNCES.search(head)
        or has_verb(text=head)
        or len(words_of(head)) > _HEAD_WORDS
    ):
        return ""
    return head


def _of_another_subject(text: str, said: str) -> bool:
    """Whether what was looked at is no record and is not spoken of in what was said before.

    "I checked the weather, it's 25" says nothing of a train; "I checked the ticket" may.
    """
    looked = _LOOKED_AT.search(text)
    what = stems(looked.group("what")) if looked else set()
    known = {"it", "again"} | RECORDS | stems(said)
    return bool(what) and not what <= known


def _rest(text: str, value: str) -> str:
    """What a sentence tells behind the new value ("50 buns, the rack is cracked"), or ""."""
    rest = text.partition(value)[2].lstrip(" ,;–—-")
    first = words_of(rest)[:1]
    if not first or first[0].partition("'")[0] in _ACCOUNTS or not opens_clause(text=rest):
        return ""
    return rest if len(content_words(rest)) > 1 else ""
