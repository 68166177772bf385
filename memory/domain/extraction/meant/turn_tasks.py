"""What the agent is to do in this turn only: work on a text, a word wanted, "just this once"."""

from __future__ import annotations

import re

_ONCE = re.compile(
    r"\b(?:just\sthis\s(?:once|time)|(?:for\s)?this\s(?:one\s)?(?:time|once|answer|reply|message|"
    r"question|one)\b(?!\sof)|for\s(?:now|today|once|the\smoment)|(?:only|just)\s(?:here|today|now)|"
    r"in\s(?:this|your\snext)\s(?:answer|reply|message)|right\snow|for\sa\s(?:minute|moment|second|change)|"
    r"in\sone\s(?:word|sentence|line)|your\sturn)\b",
    re.IGNORECASE,
)
_PRODUCTS = (
    r"(?:synonyms?|antonyms?|rhymes?|words?|names?|titles?|subject\slines?|slogans?|captions?|jokes?|puns?|"
    r"riddles?|poems?|haikus?|limericks?|stor(?:y|ies)|essays?|summar(?:y|ies)|translations?|outlines?|"
    r"drafts?|mails?|e-?mails?|letters?|tweets?|posts?|replies|reply|toasts?|speech(?:es)?|regex\w*|"
    r"snippets?|quer(?:y|ies)|formulas?|headlines?|bios?|examples?|quotes?|paragraphs?|sentences?|"
    r"ideas?|suggestions?|tips|advice|opinions?|hints?|recipes?|quiz(?:zes)?|fun\sfacts?|help)"
)
_WANTED = re.compile(
    rf"^(?:(?:so|and|now|ok|also)[\s,]+)?(?:i['’]m\slooking\sfor|i\s(?:just\s|urgently\s)?(?:need|want|could\suse)|"
    rf"i['’]d\s(?:like|love)|give\sme|(?:can|could|may)\si\s(?:have|get))\s"
    rf"(?:(?:a|an|some|your|another|one|two|three|five|ten|\d+|the|more)\s)?(?:[\w-]+\s){{0,2}}?{_PRODUCTS}\b"
    rf"(?:\W*$|\s(?:with|for|about|on|to|that|which|from|in|of)\b|:)",
    re.IGNORECASE,
)
_TEXT_WORK = re.compile(
    rf"^(?:(?:please|now|so|and|ok|can\syou|could\syou|would\syou|then)[\s,]+){{0,3}}(?:(?:re)?write(?!\s(?:to\s)?(?:me|us|back)\b|\sin\s(?-i:[A-Z]))|draft|compose|"
    rf"word|translat\w+|rephrase|reword|paraphrase|proofread|shorten|summari[sz]e|sum\sup|simplify|polish|"
    rf"spell|define|convert|explain|describe|list|sort|count|rank|compare|calculate|correct|edit|fix\sthe\s"
    rf"(?:typos?|grammar|spelling|wording)|make\s(?:it|this|that|them|these)\b|put\s(?:it|this|that|them)\sin|"
    rf"turn\s(?:it|this|that)\sinto|format|(?:re)?phrase|continue|finish\s(?:the|this|my)\s(?:poem|story|"
    rf"sentence|text)|try\sagain|do\sthe\ssame|do\s(?:it|that|this)\s(?:again|once\smore)|"
    rf"(?:come\sup\swith|suggest|invent|find\sme|think\sof|give\sme|tell\sme|show\sme)\b.*\b{_PRODUCTS}\b|"
    rf"tell\sme\sa|sing|play\s(?:a|the)|pretend|quiz\sme)\b",
    re.IGNORECASE,
)
# Said of what the agent has just written: "shorter", "less stiff, and no dashes please".
_FEEDBACK = re.compile(
    r"^(?:(?:ok|hm+|nice|good|great|almost|better|but|and|now|please|ha|can\syou\smake\sit|make\s(?:it|that))[\s,.!]+){0,4}"
    r"(?:(?:a\s(?:bit|little|touch|tad)|much|even|still|slightly|way|far)\s)?(?:[a-z]{3,}er\b(?!\s(?:is|are|was))|more\s|"
    r"less\s|fewer\s|too\s|not\s(?:so|that|quite)\s|again\b|another\b|one\smore\b|without\s|no\s[\w\s-]{3,40}please|"
    r"(?:also\s|and\s)?in\s[A-Z]\w+(?:\s(?:too|as\swell|please))?\W*$|the\ssame\b|same\b|drop\s|lose\s|"
    r"keep\s(?:it|the)|skip\s|use\s|add\s|remove\s|replace\s|swap\s|start\swith|end\swith|instead\sof)",
    re.IGNORECASE,
)


_PLAY = re.compile(
    r"(?:(?:please|so|ok|now|let['’]s|can\syou|could\syou)[\s,]+){0,3}(?:tell|give|play|quiz|ask|sing|do)\s(?:(?:me|us|a|an|another|"
    r"some|one|the|more)\s){0,3}(?:\w+\s)?(?:riddles?|jokes?|puns?|quiz\w*|trivia|puzzles?|games?|twenty\squestions|hangman|"
    r"fun\sfacts?|brain\s?teasers?|song|story)\b",
    re.IGNORECASE,
)


def is_play(*, text: str) -> bool:
    """Whether a sentence asks for a riddle, a joke or a game, whose answers mean nothing."""
    return bool(_PLAY.match(text) or _PLAY.match(text.partition(", ")[2]))


def is_once_only(*, text: str) -> bool:
    """Whether an instruction holds for one answer ("just this once", "in one word")."""
    return bool(_ONCE.search(text))


def is_turn_task(*, text: str) -> bool:
    """Whether a sentence asks for work on a text or for some words, which is done with the turn."""
    then = text.partition(", ")[2]
    return bool(_TEXT_WORK.match(text) or _WANTED.match(text) or _PLAY.match(then))


def is_feedback(*, text: str) -> bool:
    """Whether a sentence only says how a text just written should be changed."""
    return bool(_FEEDBACK.match(text))
