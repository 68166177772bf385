"""What a sentence does: assert, ask, request, suppose, guess, quote, greet, command."""

from __future__ import annotations

import re
from enum import StrEnum

from .guards import is_command
from .mood import is_guess, is_hypothetical, is_quote, is_small_talk
from .syntax import has_verb, is_imperative, strip_lead
from .verbs import AUXILIARIES, MODALS
from .words import STOPWORDS, word_set, words_of


class Act(StrEnum):
    """The dialogue act of a sentence, as far as memory cares."""

    STATEMENT = "statement"
    FRAGMENT = "fragment"
    REQUEST = "request"
    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    GUESS = "guess"
    QUOTE = "quote"
    SMALL_TALK = "small_talk"
    COMMAND = "command"


_INVERTED = AUXILIARIES - {"been", "being", "be", "have", "had", "do", "don't"} | MODALS
_WH = word_set("what where when why who whom whose which how")
_QUESTION_TAIL = re.compile(
    r"\b(?:do\syou\s(?:know|remember|recall|think)|any\s(?:idea|thoughts)|i\swonder|"
    r"wondering\s(?:if|"
    r"whether|what|how))\W*$|^(?:i\swonder|i\swas\swondering|wondering|curious|no\sidea|"
    r"any\sidea|remind\sme\s(?:what|who|when|where|how|which))\b",
    re.IGNORECASE,
)
_ASK = re.compile(
    r"^(?:can|could|would|will)\syou\b|^(?:i['’]d\slike|i\s(?:need|want))\syou\sto\b|^please\b|"
    r"\bplease\W*$|^(?:help\sme|let\sme\sknow|tell\sme|show\sme|give\sme)\b",
    re.IGNORECASE,
)
_ASKS_TO_BE_TOLD = re.compile(
    r"^(?:please\s)?(?:(?:can|could|would|will)\syou\s)?(?:please\s|quickly\s|just\s)?"
    r"(?:remind|tell|show|explain(?:\sto)?|teach)\s(?:me|us)\s(?:again\s)?"
    r"(?:what|who|whose|where|how|why|when|which|whether|if)\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:from\snow\son|going\sforward|in\s(?:the\s)?future|always|never|(?:every|each)\s"
    r"(?:other\s|single\s|second\s)?(?:time|hour|day|night|noon|lunchtime|afternoon|week|weekend|"
    r"month|quarter|year|morning|evening|sprint|\w+day)|nightly|whenever|by\sdefault|"
    r"your\s(?:answers?|repl(?:y|ies)|messages?|responses?)|"
    r"any\smore|"
    r"anymore|as\sa\srule|(?<!the\s)(?<!our\s)(?<!my\s)(?<!this\s)(?<!\sa\s)(?:daily|weekly|monthly)|on\s\w+days|until\sfurther|"
    r"until\si|when\syou|when\si)\b",
    re.IGNORECASE,
)


_ASKING_VERBS = frozenset({"is", "are", "do", "does", "did"})
_ASKING_CONTRACTIONS = word_set("what's who's where's how's when's why's")


def is_lasting(*, text: str) -> bool:
    """Whether a request asks for more than one action now ("from now on", "every Friday")."""
    return bool(_LASTING.search(text))


def act_of(*, text: str, chat: bool) -> Act:
    """The act of one sentence; a chat between people keeps its plans, hopes and feelings."""
    if is_command(text=text):
        return Act.COMMAND
    bare = strip_lead(text=text)
    words = words_of(bare)
    if not words:
        return Act.SMALL_TALK
    if _ASKS_TO_BE_TOLD.match(bare) and not is_lasting(text=bare):
        return Act.QUESTION
    if text.rstrip("\"'”’) ").endswith(("?", "?!")) or _QUESTION_TAIL.search(bare):
        return Act.REQUEST if _ASK.search(bare) else Act.QUESTION
    if _ASK.search(bare):
        polite = re.sub(r"(?i)[,\s]*\bplease\W*$", "", bare)
        if polite == bare or is_imperative(text=polite):
            return Act.REQUEST
        return Act.STATEMENT if has_verb(text=polite) else Act.FRAGMENT
    if len(words) > 2 and (
        (words[0] in _INVERTED and words[1] in STOPWORDS and words[1] not in {"not"})
        or (words[0] in _WH - {"when", "what", "how", "who"} and words[1] in _INVERTED)
        or (words[0] in _WH and words[1] in _ASKING_VERBS and len(words) < 8)
        or (words[0] in _ASKING_CONTRACTIONS and len(words) < 8 and "," not in bare)
    ):
        return Act.QUESTION
    if chat:
        return Act.STATEMENT if has_verb(text=bare) else Act.FRAGMENT
    if is_quote(text=bare):
        return Act.QUOTE
    if is_hypothetical(text=bare):
        return Act.HYPOTHETICAL
    if is_guess(text=bare):
        return Act.GUESS
    if is_small_talk(text=bare):
        return Act.SMALL_TALK
    if is_imperative(text=bare):
        return Act.REQUEST
    return Act.STATEMENT if has_verb(text=bare) else Act.FRAGMENT
