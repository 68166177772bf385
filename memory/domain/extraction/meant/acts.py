"""What a sentence does: assert, ask, request, suppose, guess, quote, greet, command."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from ..language.leads import strip_lead
from ..language.syntax import has_verb, is_imperative
from ..language.verbs import AUXILIARIES, MODALS
from ..language.words import ADVERBS, PREPOSITIONS, STOPWORDS, word_set, words_of
from .chatter import is_small_talk
from .guards import is_command
from .hearsay import is_quote
from .irony import is_ironic
from .manners import is_manner
from .suppositions import is_guess, is_hypothetical
from .turn_tasks import is_once_only, is_turn_task


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
# "I need to know how long eggs keep", "bored on the train, tell me a riddle".
_WANTS_TO_KNOW = re.compile(
    r"^(?:i['’]d\s(?:like|love)|i\s(?:just\s|really\s)?(?:need|want|would\slike))\sto\s"
    r"(?:know|understand|find\sout|learn|ask)\s(?:\w+\s)?"
    r"(?:what|who|whose|where|how|why|when|which|whether|if)\b",
    re.IGNORECASE,
)
_THEN_ASKS_FOR = re.compile(
    r"^(?P<head>[^,]{3,50}),\s(?:so\s|please\s)?(?:tell|give|show|help)\sme\b", re.IGNORECASE
)
# "What do I even say in the toast": inverted, with or without its mark.
_WH_ASKED = re.compile(
    r"^(?:(?:so|and|but|ok)\s)?(?:what|how|when|where|who|why|which(?:\s\w+)?|what\s\w+|how\s(?:much|many|long|often)(?:\s\w+)?)"
    r"(?:\s(?:the\shell|on\searth|else))?\s(?:do|does|did|can|could|should|would|will|shall|am|are|is|was|were|have|has)(?:n['’]t)?\s"
    r"(?:i|we|you|he|she|they|it|people|one|there)\b",
    re.IGNORECASE,
)
_WH_BARE = re.compile(
    r"^(?:(?:so|and|but|ok)\s)?(?:how\scome\b|(?:what|who|whom|whose|where|when|why)(?:\son\searth|\sthe\shell)?\s(?:is|are|was|were|does|did|do)\s"
    r"(?!i\b|we\b)[^,]*$|(?:who|what|which)\son\searth\b|how\s(?:long|often|far|much|many|old|big)\s(?:is|are|does|do|did|was|were)\b|"
    r"why\s(?:is|are|does|do|did|was|were|can|would|on)\b|which\s\w+\s(?:for|is|are|goes|would)\b)",
    re.IGNORECASE,
)
_CANNOT_RECALL = re.compile(
    r"^(?:i\s(?:can['’]t|cannot|don['’]t|forgot|forget|have\sforgotten)|i['’]ve\sforgotten|no\sidea)\s?(?:remember|recall|know)?\s"
    r"(?:what|who|whose|where|how|why|when|which|whether|if)\b"
    # "I can't remember my locker number": nothing is told but that it is not known.
    r"|^(?:(?:sorry|ugh|but|and)[\s,]+)?i\s(?:can['’]?t|cannot|(?:don['’]?t|do\snot)|keep\sforgetting|forgot|"
    r"(?:have|['’]ve)\sforgotten)\s?(?:(?:remember|recall)\s)?(?:my|the|her|his|their|our|its)\s"
    r"(?:\w+\s){0,3}(?:name|number|code|password|pin|address|date|title|word|link|login|time)s?"
    r"(?:\s(?:again|right\snow|anymore|any\smore|at\sall))?[.!]*$",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:from\snow\son|going\sforward|in\s(?:the\s)?future|always|never|(?:every|each)\s"
    r"(?:other\s|single\s|second\s)?(?:time|hour|day|night|noon|lunchtime|afternoon|week|weekend|"
    r"month|quarter|year|morning|evening|sprint|\w+day)|(?<!the\s)(?<!our\s)(?<!last\s)nightly|whenever|by\sdefault|"
    r"your\s(?:answers?|repl(?:y|ies)|messages?|responses?)|"
    r"any\smore|"
    r"anymore|ever(?=\W*$)|as\sa\srule|(?<!the\s)(?<!our\s)(?<!my\s)(?<!this\s)(?<!\sa\s)(?:daily|weekly|monthly)|on\s\w+days|until\sfurther|"
    r"until\si|when\syou|when\si)\b",
    re.IGNORECASE,
)


_FOR_ONCE = re.compile(
    r"(?:(?:just|only)\s)?(?:this\s(?:once|time)|for\s(?:once|now|this\s(?:answer|reply|message|one|summary|text|question))|"
    r"in\s(?:the|your)\snext\s(?:answer|reply|message)|today),?\s",
    re.IGNORECASE,
)
# "A postdoc called Mirjam."
_CALLED = re.compile(
    r"(?:an?|the|my|our|this|some)\s(?:(?!is\s|are\s|was\s|were\s)[\w-]+\s){1,3}(?:called|named)\s[A-ZÀ-Þ][\w’'-]*(?:\s[A-ZÀ-Þ][\w’'-]*)*[.!]*",
)
# "Can't do Mondays": what follows is no subject, so that nothing is asked.
_NO_SUBJECTS = word_set("do be have go get even really just only always")
_CONJUNCTIONS = frozenset({"and", "but", "so"})
_BEGINS_QUESTION = frozenset({"is", "are", "does", "did", "would", "could", "should", "will"})
_ASKING_VERBS = frozenset({"is", "are", "do", "does", "did"})
_ASKING_CONTRACTIONS = word_set("what's who's where's how's when's why's")


# "Did that, 120 now": the "I" is left out.
_DID_IT = re.compile(
    r"did\s(?:that|this|it|so)(?=\s?[,.;!]|\s(?:already|yesterday|last|too|in)\b)", re.IGNORECASE
)
# "What's left is the kitchen", "what's more, they pay late": no questions.
_TELLS_AFTER_ALL = re.compile(
    r"^\S+\s.*?\b(?:is|are|was|were|has|will|needs?)\b|^what['’]s\s(?:more|worse|best|better|important|new),",
    re.IGNORECASE,
)


def _asks_bare(bare: str, words: list[str]) -> bool:
    """ "is chocolate bad for dogs": inverted, and its question mark left out."""
    return (
        words[0] in _BEGINS_QUESTION
        and not bare.startswith("Will ")
        and words[1] not in PREPOSITIONS
        and words[1] not in ADVERBS
        and not words[1].endswith(("ed", "ing"))
        and "," not in bare
    )


def is_lasting(*, text: str) -> bool:
    """Whether a request asks for more than one action now ("from now on", "every Friday")."""
    return bool(_LASTING.search(text)) and not is_once_only(text=text)


def act_of(*, text: str, chat: bool) -> Act:
    """The act of one sentence; a chat between people keeps its plans, hopes and feelings."""
    return _act_of(text, chat)


# Both passes ask about the same sentences, and the first one several times.
@lru_cache(maxsize=512)
def _act_of(text: str, chat: bool) -> Act:
    if is_command(text=text):
        return Act.COMMAND
    bare = strip_lead(text=text)
    words = words_of(bare)
    if not words:
        return Act.SMALL_TALK
    asks = _ASKS_TO_BE_TOLD.match(bare) or _WANTS_TO_KNOW.match(bare)
    if asks and not is_lasting(text=bare):
        return Act.QUESTION
    if text.rstrip("\"'”’) ").endswith(("?", "?!")) or _QUESTION_TAIL.search(bare):
        return Act.REQUEST if _ASK.search(bare) else Act.QUESTION
    asked_for = _THEN_ASKS_FOR.match(bare)
    if asked_for and not has_verb(text=asked_for.group("head")):
        return Act.REQUEST
    if _ASK.search(bare):
        polite = re.sub(r"(?i)[,\s]*\bplease\W*$", "", bare)
        if polite == bare or is_imperative(text=polite):
            return Act.REQUEST
        return Act.STATEMENT if has_verb(text=polite) else Act.FRAGMENT
    if _WH_ASKED.match(bare) or _WH_BARE.match(bare) or _CANNOT_RECALL.match(bare):
        return Act.QUESTION
    while words[0] in _CONJUNCTIONS and len(words) > 2:
        words = words[1:]
    if len(words) > 2 and (
        (
            words[0] in _INVERTED
            and words[1] in STOPWORDS
            and words[1] not in {"not", "and"}
            and not (words[0].endswith(("n't", "cannot")) and words[1] in _NO_SUBJECTS)
            and not _DID_IT.match(bare)
        )
        or _asks_bare(bare, words)
        or (words[0] in _WH - {"when", "what", "how", "who"} and words[1] in _INVERTED)
        or (words[0] in _WH and words[1] in _ASKING_VERBS and len(words) < 8)
        or (words[0] in _ASKING_CONTRACTIONS and not _TELLS_AFTER_ALL.search(bare))
        or words[0] == "whether"
    ):
        return Act.QUESTION
    if chat:
        return Act.STATEMENT if has_verb(text=bare) else Act.FRAGMENT
    if is_ironic(text=text):
        return Act.SMALL_TALK
    once = _FOR_ONCE.match(bare)
    if once and is_imperative(text=bare[once.end() :]):
        return Act.REQUEST
    if is_turn_task(text=bare) and not is_lasting(text=bare):
        return Act.REQUEST
    if is_manner(text=bare):
        return Act.REQUEST
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
    if _CALLED.fullmatch(bare):
        return Act.FRAGMENT
    return Act.STATEMENT if has_verb(text=bare) else Act.FRAGMENT
