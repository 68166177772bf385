"""Verbless notes read for what they are: a label and its value, or an answer to a question."""

from __future__ import annotations

import re

from .admitting.information import specific_words
from .answering.offers import is_offer
from .answering.yes_no import closed_answer, whether
from .fillers import is_acknowledgement
from .language.leads import strip_lead
from .language.rewrite import Voice, third_person_text
from .language.syntax import has_verb, is_imperative
from .language.words import DETERMINERS, PREPOSITIONS, STOPWORDS, content_words, words_of
from .threads.dialogue import Unit

# "Goal: replace the old shop"
_LABELLED = re.compile(
    r"(?P<label>[A-Za-zÀ-ÿ][\w/&’'-]*(?:\s[\w/&’'-]+){0,4}):\s(?P<value>\S.{1,160})"
)
# "Budget 85k", "churn 2.1 %", "signups up 12 % to 4,310"
_MEASURED = re.compile(
    r"(?P<label>[A-Za-zÀ-ÿ][\w/&’'-]*(?:\s[A-Za-zÀ-ÿ][\w/&’'-]*){0,3})\s"
    r"(?P<value>(?:(?:up|down|about|around|at|under|over|max\.?|min\.?|approx\.?)\s){0,2}[$€£]?\d.{0,60})"
)
_HEADS_LIST = re.compile(r"[A-Za-z][\w\s-]{2,30}:\s")
_ITEM_JOINT = re.compile(r",\s(?:and\s)?|;\s|\s/\s")
_NO_LABEL = frozenset({"only", "just", "around", "about", "maybe", "like", "till", "until", "page"})
_EMPTY_ASKED = re.compile(
    r"(?:what\selse|(?:any|some)thing\s(?:else\s)?(?:i|we)\s(?:can|could|should)|anything\selse|and\syou|how(?:\sare|\sis|['’]s|\swas|\sdid\s.{2,30}\sgo)|what(?:['’]s|\sis)\sup|really|are\syou\ssure|"
    r"which\sone|what\snow|is\sthat\s(?:all|ok|okay|right|it))\b",
    re.IGNORECASE,
)
_PLAIN_YES = re.compile(
    r"(?:(?:yes|yeah|yep|no|nope|nah|sure|ok|okay|right|exactly|please|thanks|of\scourse|not\syet|"
    r"not\sreally|maybe|perhaps|later|always|never|none|nothing|both|very|same|soon|whatever|"
    r"no\sidea|no\sneed|i\sdo|we\sdo)\W*)+$",
    re.IGNORECASE,
)

_PLURAL = re.compile(r"(do|are|were|have)\s", re.IGNORECASE)
_SINGULAR = {"do": "Does", "are": "Is", "were": "Was", "have": "Has"}

# A question about the speaker's own world, and no riddle.
_GROUNDED = re.compile(
    r"\b(?:you|your|yours|we|our|us|he|she|they|his|her|their)\b|\b(?:the|this|that)\s(?!more\b|most\b|hell\b)[a-z]+|"
    r"\b(?:is|does|did|will|was|has|can)\s(?:it|there)\b|(?-i:[a-z,]\s[A-Z]\w)|^(?:\S+\s){0,3}\S+$|^how\smany\b",
    re.IGNORECASE,
)


def note_items(*, text: str) -> list[str]:
    """The notes that a verbless sentence holds, each as one line; empty where it holds none.

    "Points: signups up 12 %, churn 2.1 %" gives two, "Budget 85k" one.
    """
    if is_imperative(text=text):
        return []
    bare = text.rstrip(". ")
    labelled = _LABELLED.fullmatch(bare)
    if labelled and has_verb(text=labelled.group("label")):
        return []
    body = labelled.group("value") if labelled else bare
    parts = [part.strip() for part in _ITEM_JOINT.split(body)]
    notes = [part for part in parts if _is_note(part)]
    if len(notes) > 1 and len(notes) == len([part for part in parts if not has_verb(text=part)]):
        return [part for part in parts if _is_note(part) or has_verb(text=part)]
    if labelled and len(content_words(body)) > 1:
        return [f"{labelled.group('label')}: {body}"]
    return [bare] if _is_note(bare) and not has_verb(text=bare) else []


def _is_note(part: str) -> bool:
    """Whether a part is a label with a figure ("churn 2.1 %")."""
    match = _MEASURED.fullmatch(part)
    if match is None:
        return False
    words = words_of(match.group("label"))
    return (
        bool(set(words) - STOPWORDS)
        and words[0] not in PREPOSITIONS | STOPWORDS | _NO_LABEL
        and not has_verb(text=part)
    )


def as_answer(*, unit: Unit, text: str) -> str:
    """A fragment with the question it answers, in the third person; "" where it tells nothing."""
    asked = re.sub(r"[?!\s]+$", "", strip_lead(text=unit.question))
    if (
        is_offer(question=unit.question)
        or _EMPTY_ASKED.match(asked)
        or is_acknowledgement(text=text)
    ):
        return ""
    if not _GROUNDED.search(unit.question):
        return ""
    if unit.place > 0 or _PLAIN_YES.match(text) or not (content_words(text) or _counted(text)):
        return ""
    if not content_words(asked) or not (_counted(text) or _says_what(text)):
        return ""
    if re.match(r"why\b", asked, re.IGNORECASE) and len(content_words(text)) < 3:
        return ""
    heard = Voice(name="the agent", group="the team", addressee=unit.voice.name)
    if closed_answer(question=unit.question, answer=text):
        # The first pass has told it.
        return ""
    answer = third_person_text(text=text, voice=unit.voice)
    holds = whether(question=unit.question)
    if holds:
        said = third_person_text(text=holds, voice=unit.voice)
        return f"Asked whether {said}, {unit.voice.name} answered: {answer}"
    question = third_person_text(text=asked, voice=heard)
    plural = _PLURAL.match(question)
    if plural and question[plural.end() :].startswith(unit.voice.name):
        question = _SINGULAR[plural.group(1).lower()] + question[plural.end(1) :]
    return f'Asked "{question}", {unit.voice.name} answered: {answer}'


def _says_what(text: str) -> bool:
    """Whether an answer names something, and not just how it goes ("slowly", "another")."""
    told = [word for word in content_words(text) if not word.endswith("ly")]
    return bool(set(told) - DETERMINERS) and specific_words(" ".join(told)) > 0


def _counted(text: str) -> bool:
    return any(word[0].isdigit() for word in words_of(text))
