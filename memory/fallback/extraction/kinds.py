"""The type of a memory by an ordered list of tests; the model weighs its verdict with the rest."""

from __future__ import annotations

import re

from memory.domain.types import MemoryType, Role

from ..lexicon import marks
from .grammar import VERBS as _VERBS
from .grammar import Tense, has_verb, request_of, tense_of, tokens_of, words_of
from .profile import LANGUAGE, ZONE, attribute_of, tells_of_oneself
from .statements import Statement

DECISION = re.compile(
    r"\b(?:we|i)(?:'ve|\shave)?\s(?:just\s|finally\s|also\s)?(?:decided|agreed|settled|picked|chose|"
    r"opted|voted|are\sgoing\swith)\b|\blet's\s(?:go\swith|stick|use|take|keep|drop|skip|do|paint|"
    r"ship|say)\b|\bwe\s(?:drop|stay\swith|stick\swith|go\swith|submit|skip|switch\sto)\b|\b(?:board|council|committee|team|guild|tenants|client)\s(?:has\s|have\s)?(?:approved|"
    r"agreed|decided|voted|signed)\b|\bfinal\sdecision\b|\bwe're\sgoing\swith\b",
    re.IGNORECASE,
)
OBLIGED = re.compile(
    r"\b(?:must|mustn't|ha(?:s|ve)\sto|needs?\s(?:to\sbe|to)|require[sd]?|requirement|mandatory|"
    r"deadline|due|no\slater\sthan|at\sthe\slatest|forbidden|not\sallowed|may\s(?:not|only|never)|"
    r"exceed|hand\sin|submit|expires?|limit(?:ed)?|by\slaw|wants?\s\d|needs?\s\d)\b|\b(?:no|nobody|"
    r"nothing|only)\b.{0,50}\bmay\b|\bby\s(?:the\s)?(?:end\sof|\d|(?:mon|tues|wednes|thurs|fri|satur|sun)"
    r"day|next|noon|tomorrow|then|january|february|march|april|may|june|july|august|september|october|"
    r"november|december)\b",
    re.IGNORECASE,
)
HABIT = re.compile(
    r"\b(?:every|each|always|usually|normally|weekly|monthly|daily|(?:mon|tues|wednes|thurs|fri|satur|"
    r"sun)days|weekdays|per\s(?:week|month|year)|a\s(?:week|month|year)|never|from\snow\son|on\s"
    r"weekdays|on\sweekends)\b",
    re.IGNORECASE,
)
_DAYS = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_DAY_LIST = re.compile(rf"\b{_DAYS}(?:,\s(?:and\s)?|\sand\s|\sto\s|\sor\s){_DAYS}\b", re.IGNORECASE)
_RULE = re.compile(
    r"(?:and\s|but\s|so\s|also\s)?(?:when|whenever|if|in\scase|(?:every|each)\stime)\s",
    re.IGNORECASE,
)
_UNREAL = re.compile(r"\b(?:would|could|might|had|were)\b|'d\b", re.IGNORECASE)
_ORDER = re.compile(
    r"\b(?:first|then|last|finally|before|after|afterwards|until|wait|next|in\s(?:that|this)\sorder)\b",
    re.IGNORECASE,
)
_MEETING = re.compile(
    r"\b(?:appointment|follow-?up|meeting|meets?|interview|dinner|lunch\swith|party|visits?|flight|"
    r"fl(?:y|ies|ying)|trip|workshop|wedding|concert|exam|check-?up|surgery|operation|conference|demo|"
    r"inspection|session|hearing|ceremony|vacation|holiday|day\soff|away|coming|comes|come\sby|arriv\w+|"
    r"leav(?:e|es|ing)|mov(?:e|es|ing)|booked|table|match|race|marathon|gig|viewing|dentist|vet|physio|"
    r"married|tour)\b",
    re.IGNORECASE,
)
_MILESTONE = re.compile(
    r"\b(?:ships?|launch(?:es)?|releases?|go(?:es)?\slive|go-live|opens?|starts?|begins?|ends?|closes?|"
    r"expires?|renews?|changes?|freezes?|frozen|takes\seffect|is\s(?:due|planned|scheduled|set|free|"
    r"available|open|closed)|milestone|(?:date|day|deadline|start|end|opening)\sis|prototype)\b",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"(?:\b(?:am|is|are|be)|'(?:m|s|re))\s(?:\w+\s)?(?:away|out|off|abroad|on\s(?:\w+\s)?(?:leave|holiday"
    r"|vacation))\b.{0,40}\b(?:until|till|from|this|next|on|week|month|in)\b",
    re.IGNORECASE,
)
_BACKGROUND = re.compile(
    r"\b(?:used\sto|grew\sup|was\sborn|previously|formerly|originally|(?:was|were)\s(?:written|built|"
    r"designed|made|founded|named)\s(?:by|in|with|after))\b",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\b(?:since|until|till|as\sof)\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"(?:when|whenever|if|in\scase|before|after|to|once|quick\sfix\sif|(?:every|each)\stime)\b",
    re.IGNORECASE,
)
_INNER_CONDITION = re.compile(
    r"\b(?:first\swhen|when\s(?:a|the|it)|before\s(?:every|each)|after\severy|whenever)\b",
    re.IGNORECASE,
)
_STEP_JOINT = re.compile(
    r",\s(?:and\s)?(?:(?:only\s)?then\s)?|;\s|\sthen\s|\sand\s(?:only\s)?(?:then\s)?|:\s",
    re.IGNORECASE,
)
_STEP_ADVERB = re.compile(r"(?:first|then|always|finally|only|next|just)\s", re.IGNORECASE)
_HOW = re.compile(r"how\s(?:we|i|to)\b", re.IGNORECASE)
_ABOUT_ONE = re.compile(
    r"\b(?:name|address|phone|number|email|live|work|job|role|birthday|allerg\w+|pronouns|"
    r"time\s?zone|hours|based|injur\w+|medic\w+|dose|emergency|contact|health|diet|pain|tolerate|"
    r"old|hurts?|symptoms?)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(?P<head>[^:,.!?]{3,45}):\s(?P<rest>\S.{8,})")


def steps_in(text: str) -> int:
    """2 for a way of doing something in steps or under a condition, 1 for a hint of one."""
    parts = [_STEP_ADVERB.sub("", part.strip(), count=1) for part in _STEP_JOINT.split(text)]
    told = sum(words_of(part)[:1] != [] and words_of(part)[0] in _VERBS for part in parts)
    conditional = _CONDITION.match(text) or _INNER_CONDITION.search(text)
    ordered = len(set(_ORDER.findall(text.lower()))) > 1 and "," in text
    is_rule = _RULE.match(text) and not _UNREAL.search(text) and ("," in text or " we " in text)
    if told >= 3 or (told == 2 and conditional) or _HOW.match(text) or ordered or is_rule:
        return 2
    return 1 if told and conditional else 0


def kind_of(statement: Statement, clause: str, *, told: str, is_dated: bool) -> MemoryType:
    """The type of a statement: `clause` as said, without its opener; `told` as it is worded."""
    role = statement.turn.role
    if role is Role.TOOL:
        return MemoryType.EPISODIC
    if role is Role.ASSISTANT:
        solved = any(marks(tokens_of(statement.said), names=["talk/solutions"]))
        return MemoryType.PROCEDURAL if solved else MemoryType.EPISODIC
    if _is_profile(statement, clause):
        return MemoryType.USER_PROFILE
    return _kind_of_fact(statement, clause, told=told, is_dated=is_dated)


def _is_profile(statement: Statement, clause: str) -> bool:
    attribute = attribute_of(clause)
    request = request_of(clause)
    if attribute in {LANGUAGE, ZONE} and (request or tells_of_oneself(clause)):
        return True
    if tells_of_oneself(clause) and not (request and attribute not in {"preferred_name"}):
        return True
    question = statement.turn.question if statement.is_answer else ""
    return "you" in question.lower() and _ABOUT_ONE.search(question) is not None


def _kind_of_fact(statement: Statement, clause: str, *, told: str, is_dated: bool) -> MemoryType:
    if DECISION.search(clause) or DECISION.search(statement.sentence):
        return MemoryType.EPISODIC
    request = request_of(clause)
    way = steps_in(clause)
    if any(marks(tokens_of(clause), names=["talk/solutions"])) and not _UNREAL.search(clause):
        return MemoryType.PROCEDURAL
    if way == 2 or (way == 1 and (request or _CONDITION.match(clause))):
        return MemoryType.PROCEDURAL
    heading = _HEADING.match(clause)
    headed = heading is not None and not has_verb(heading["head"])
    tense = tense_of(heading["rest"] if heading and headed else clause)
    commas = clause.count(",")
    if (commas > 1 and not has_verb(clause)) or (headed and commas and tense is not Tense.PAST):
        return MemoryType.SEMANTIC
    obliged = OBLIGED.search(clause)
    habit = HABIT.search(clause) or _DAY_LIST.search(clause)
    failed = any(marks(tokens_of(clause), names=["talk/failures"]))
    if failed and not obliged and not habit:
        return MemoryType.EPISODIC
    if is_dated and _AWAY.search(clause):
        return MemoryType.EPISODIC
    if tense is Tense.PAST and not obliged:
        return MemoryType.SEMANTIC if _BACKGROUND.search(clause) else MemoryType.EPISODIC
    if request:
        once = is_dated and not habit and not obliged
        return MemoryType.EPISODIC if once else MemoryType.SEMANTIC
    if obliged or habit:
        return MemoryType.SEMANTIC
    if is_dated and _MEETING.search(told):
        return MemoryType.EPISODIC
    if (is_dated and _MILESTONE.search(told)) or _SINCE.search(clause):
        return MemoryType.SEMANTIC
    return MemoryType.EPISODIC if is_dated else MemoryType.SEMANTIC
