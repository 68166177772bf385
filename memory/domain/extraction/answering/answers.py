"""Elliptic answers completed with the question they answer, in the answerer's own voice."""

from __future__ import annotations

import re

from ..language.declaratives import decapitalised, declarative, form_of_be
from ..language.leads import strip_lead
from ..language.syntax import has_verb, is_imperative
from ..language.verbs import THIRD
from ..language.words import COMMON_OPENERS, DETERMINERS, PREPOSITIONS, capitalised, words_of
from .offers import TELL_ME, flipped, is_offer
from .open_answers import answered_openly

_CHOICE = re.compile(
    r"^(?:would\syou\s(?:like|prefer|rather\shave)|do\syou\s(?:want|prefer|need)|shall\sit\sbe|"
    r"should\sit\sbe|"
    r"is\sit)\s(?P<options>.{2,80}?\sor\s.{2,60})$",
    re.IGNORECASE,
)
_PREPOSED = re.compile(
    r"^(?P<prep>in|on|at|for|to|by|from|until|since|with|under)\s"
    r"(?P<rest>(?:which|whom|what)\s(?!time\b).+)$",
    re.IGNORECASE,
)
_ELLIPTIC = re.compile(
    r"^(?:(?:what|how)\sabout\s)?(?P<np>(?:the|your|their|its|his|her|our|any)\s[\w\s’'-]{2,40})$",
    re.IGNORECASE,
)
_WHEN = re.compile(r"^(?:what\s)?(?P<cond>(?:when|if|in\scase)\s.{4,90})$", re.IGNORECASE)
_WHAT_IF = re.compile(
    r"^what\s(?:do|should|would)\s(?:we|you|i|people)\s(?:usually\s)?do\s(?P<cond>(?:when|"
    r"if)\s.{4,80})$|"
    r"^(?:and\s)?what\s(?P<cond2>(?:if|when)\s.{4,80})$",
    re.IGNORECASE,
)
_ANY = re.compile(
    r"\b(?:any(?:thing|one|body|where)(?:\selse)?|any\s[\w-]+(?:\s[\w-]+)?)\b", re.IGNORECASE
)
# "Any rule on tests?", "What about Keycloak?", "Anything about docstrings?", "And for monitors?"
_ABOUT = re.compile(
    r"^(?:(?:what|how)\s(?:about|of)|any(?:thing)?(?:\s[a-z]+){0,3}?\s(?:on|about|regarding|for|with|"
    r"concerning)|any)\s(?P<np>(?:(?:the|your|our|his|her|their)\s)?[\w’'-]+(?:\s[\w’'-]+){0,3})$",
    re.IGNORECASE,
)
_SAME = re.compile(r"^(?:the\s)?same\s(?P<np>[\w’'-]+(?:\s[\w’'-]+){0,2})$", re.IGNORECASE)
_WHICH_ONE = re.compile(
    r"^(?:which|what)\s(?:(?:kind|sort|type|make|brand)\sof\s)?(?P<np>[a-z-]+(?:\s[a-z-]+)?)\s(?P<be>is|was)\s(?:it|that|this)$",
    re.IGNORECASE,
)
_NOW = re.compile(r"\s(?:today|now|nowadays|these\sdays|at\sthe\smoment|currently)$", re.IGNORECASE)
_PRESENT_ASKED = re.compile(r"\b(?:is|are|do|does|has|have)\b", re.IGNORECASE)
_STATE_OF = re.compile(r"(?:too|very|quite|so|not|no|only|always|never|just|still|already)\b", re.I)
_HAVE_A = re.compile(
    r"^(?:do\syou\s(?:already\s)?have|is\sthere|have\syou\sgot)\s(?:an?|any|"
    r"some)\s(?P<noun>[\w\s-]{3,30}?)(?:\s(?:yet|already|for\sthat))?$",
    re.I,
)
# "Is there a tool you use?"
_THAT_YOU = re.compile(
    r"^(?:is\sthere|do\syou\shave|have\syou\sgot)\s(?:an?|any|some)\s(?:[\w-]+\s){1,3}(?:that\s)?you\s(?:usually\s|always\s)?"
    r"(?P<does>use|prefer|like|love|hate|want|need|avoid|recommend|trust|take|drive|play|watch|read)$",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:what|how)\s(?:can|may|could|should)\si\s(?:do|help|assist|know|note)\b|what\sdo\syou\sneed$|"
    r"what['’]?s\s(?:up|new|on\b|wrong|going\son|happened|the\smatter|next|first|it\slike)|(?:what|so)\sdo\syou\s(?:need|want|think|mean)$|(?:and\s)?what\sdo\syou\s(?:make\sof|think\s(?:of|about))\b|"
    r"what\s(?:happened|else|brings|are\syou\s(?:up\sto|in\sthe\smood))\b|how\s(?:did|does|was|is)\s(?:it|that|everything|your\s\w+)(?:\sgo(?:ing)?)?\b|"
    r"is\sthere\s(?:any|some)thing\b|anything\s(?:else|i\b|special|in\sparticular|new)|how\sare\s(?:you|things)\b|"
    r"(?:where|how|what|which\s\w+|when)\s(?:shall|should|do|can|could|would)\s(?:we|i|you)\s(?:like\s(?:me\s)?to\s|"
    r"want\s(?:me\s)?to\s)?(?:begin|start|go|proceed|continue|do\s(?:first|next|now)|look\sat|help|talk|discuss)\b",
    re.IGNORECASE,
)
# Whom or what a question asks about: "When is he away next?", "When does the train leave?"
_SUBJECT_ASKED = re.compile(
    r"\b(?:is|does|did|will|has|was|can|should)\s(?P<who>he|she|it|[A-ZÀ-Þ][\w-]+|(?:the|your)\s[a-z-]+)\b",
    re.IGNORECASE,
)


# "What will you do with the beer?"
_ASKED_TO_DO = re.compile(
    r"what\s(?:do|(?P<will>will|would|are))\syou\s(?:usually\s|normally\s|going\sto\s|gonna\s|plan\sto\s)?(?:be\s)?"
    r"(?:do|doing)\b",
    re.IGNORECASE,
)


def complete_answer(*, question: str, answer: str) -> str:
    """The answer as a whole sentence in the answerer's voice, or "" where nothing fits.

    "Where will she work from?" and "Zagreb." give "She will work from Zagreb."
    """
    asked = TELL_ME.sub(r"What is \g<np>", strip_lead(text=question).rstrip("?! "))
    given = decapitalised(strip_lead(text=answer).rstrip(".! "))
    given = re.sub(r",?\s(?:please|thanks)$", "", given, flags=re.IGNORECASE)
    asked = re.sub(r"^(?:and|but|so|also)\s", "", asked, flags=re.IGNORECASE)
    if not asked or not given or is_offer(question=question) or _OPENING.match(asked):
        return ""
    if _goes_on(given):
        return ""
    doing = _ASKED_TO_DO.match(asked)
    if doing and is_imperative(text=given):
        will = "will " if doing.group("will") else ""
        return f"I {will}{given[:1].lower()}{given[1:]}"
    asked = re.sub(r"(?i)^(how\smany)\sof\s(?:you|us)\b", r"\1 people", asked)
    if _PRESENT_ASKED.search(asked):
        asked = _NOW.sub("", asked)
    preposed = _PREPOSED.match(asked)
    if preposed:
        asked, given = preposed.group("rest"), f"{preposed.group('prep').lower()} {given}"
    choice = _CHOICE.match(asked)
    if choice:
        return _chosen(choice.group("options"), given)
    what_if = _WHAT_IF.match(asked)
    if what_if:
        return (
            f"{capitalised(flipped(text=what_if.group('cond') or what_if.group('cond2')))}: {given}"
        )
    condition = _WHEN.match(asked)
    if (
        condition
        and " " in given
        and not re.match(
            r"when\s(?:do|does|did|is|are|was|will|would|can|should|has|have)\b", asked, re.I
        )
    ):
        return f"{capitalised(flipped(text=condition.group('cond')))}: {given}"
    if re.match(r"(?i)(?:for|in|on|at|with|during|from)\s", asked) and not has_verb(text=asked):
        return f"{capitalised(flipped(text=asked))}: {given}"
    using = _THAT_YOU.match(asked)
    if using:
        return f"I {using.group('does')} {given}"
    having = _HAVE_A.match(asked)
    if (
        having
        and given[:1].isupper()
        and len(given.split()) <= 3
        and words_of(given)[0] not in COMMON_OPENERS
    ):
        return f"My {having.group('noun')} is {given}"
    asked = flipped(text=asked)
    topical = _about(asked, given)
    if topical:
        return topical
    elliptic = _ELLIPTIC.match(asked)
    if elliptic and not has_verb(text=asked):
        noun = re.sub(r"^any\s", "the ", elliptic.group("np"), flags=re.IGNORECASE)
        return f"{capitalised(noun)} {form_of_be(noun)} {decapitalised(given)}"
    opened = answered_openly(asked=asked, given=given)
    return _any_filled(asked, given) if opened is None else opened


def _goes_on(given: str) -> bool:
    """Whether an answer is a clause that only lacks its subject ("depends on the tides")."""
    words = words_of(given)
    return len(words) > 1 and words[0] in THIRD and words[1] in PREPOSITIONS | DETERMINERS


def _about(asked: str, given: str) -> str:
    """The answer to a question that only names what it is about, or ""."""
    which = _WHICH_ONE.match(asked)
    if which:
        return f"The {which.group('np')} {which.group('be')} {given}"
    same = _SAME.match(asked)
    if same and not re.match(r"(?:the\s)?same\b", given, re.IGNORECASE):
        return f"My {same.group('np')} is {given}"
    about = _ABOUT.match(asked)
    if about is None or has_verb(text=asked):
        return ""
    noun = about.group("np")
    if noun.split()[-1].lower() in {
        "else",
        "more",
        "other",
        "thing",
        "things",
        "questions",
        "idea",
    }:
        return ""
    if _STATE_OF.match(given) and not has_verb(text=given) and noun[:1].isupper():
        return f"{noun} is {given}"
    return f"{capitalised(noun)}: {given}"


def continued(*, question: str, answer: str) -> str:
    """An answer that leaves its subject out ("Leaves on the 28th") with the question's, or ""."""
    words = words_of(answer)
    asked = _SUBJECT_ASKED.search(strip_lead(text=question))
    if asked is None or len(words) < 2 or words[0] not in THIRD or words[0] == "depends":
        return ""
    if words[1] not in PREPOSITIONS | DETERMINERS and not words[1][0].isdigit():
        return ""
    return f"{capitalised(flipped(text=asked.group('who')))} {answer[:1].lower()}{answer[1:]}"


def affirmed(*, question: str) -> str:
    """What a yes to a question says, in the answerer's voice, or ""."""
    asked = re.sub(r"(?i)^(?:and|but|so|also)\s", "", strip_lead(text=question).rstrip("?! "))
    asked = asked[:1].lower() + asked[1:]
    return capitalised(declarative(flipped(text=asked).split(), "")) if asked else ""


def _chosen(options: str, given: str) -> str:
    said = set(words_of(given)) - {"a", "an", "the"}
    parts = [part.strip(" ,") for part in re.split(r"\sor\s|,\s", options)]
    others = [part for part in parts if not said & set(words_of(part))]
    if len(others) == len(parts):
        return ""
    rather = (
        f" rather than {' or '.join(flipped(text=other) for other in others)}" if others else ""
    )
    return f"I asked for {decapitalised(given)}{rather}"


def _any_filled(asked: str, given: str) -> str:
    words = asked.split()
    if len(words) < 3 or not _ANY.search(asked):
        return ""
    statement = declarative(words, "")
    if not statement:
        return ""
    return capitalised(_ANY.sub(lambda _: decapitalised(given), statement, count=1))
