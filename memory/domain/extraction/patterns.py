"""Typed patterns: what kind of memory a clause is, and how much it matters."""

from __future__ import annotations

import re

from ..types import MemoryType
from .labels import Label
from .moments import FoundDate, Precision
from .preferences import preference_label
from .procedures import is_procedure
from .profile import profile_label
from .words import words_of

_S, _E, _P = MemoryType.SEMANTIC, MemoryType.EPISODIC, MemoryType.PROCEDURAL
_DECISION = re.compile(
    r"\b(?:we|i|they|the\s(?:team|board|committee|client|group)|everyone|management)(?:['’]ve|"
    r"\shave|\shas)?\s(?:also\s|just\s|finally\s|now\s|all\s|"
    r"both\s|already\s|then\s|therefore\s)?(?:decided|agreed|chose|chosen|settled|opted|picked|"
    r"voted|committed|"
    r"resolved\sto|approved|signed\soff)\b|\blet['’]s\s(?:go|use|stick|do|keep|switch|drop|move|"
    r"take|make|"
    r"postpone|call|stay|start|hold|settle|pick|choose|adopt|say|skip|cut|not)\b|\b(?:the|our|"
    r"final)\sdecision\b(?!\s(?:maker|making))"
    r"|^decision:|\bwe(?:['’]re|\sare)\s(?:now\s)?(?:going\s(?:with|for|ahead)|switching|dropping|"
    r"migrating|sticking|"
    r"staying\swith|keeping|scrapping|moving\s(?:to|from|away))\b|\bwe(?:['’]ll|"
    r"\swill)\s(?:go\swith|stick\swith|use|stay\swith|"
    r"drop|switch|keep|move\sto)\b|\bwe(?:['’]ve|\shave)?\s(?:just\s|finally\s|also\s)?(?:dropped|scrapped|cancelled|"
    r"postponed|abandoned|ditched|called\soff|turned\sdown|rejected)\s(?:the|our|that|all|plan)\b|\bit['’]s\s(?:been\s)?decided\b|\bi(?:['’]m|"
    r"\sam)\sgoing\swith\b|\bwe\sgo\swith\b"
    r"|\b(?:made\sup\s(?:our|my)\smind|the\schoice\sfell|(?:was|were|is|has\sbeen)\s(?:decided|"
    r"agreed|chosen)\s(?:to|that|on|for))\b"
    r"|\bi['’]ll\s(?:take|go\swith|stick\swith)\b",
    re.IGNORECASE,
)
_OBLIGATION = re.compile(
    r"\b(?:must|mustn['’]t|shall\snot|ha(?:ve|s)\sto|needs?\sto\sbe|need\sto|"
    r"needs?\s(?=\w+\s(?:by|before))|(?:wants?|needs?)\s\d+|required?|requires|requirement|"
    r"mandatory|"
    r"compulsory|obligatory|deadline|due|no\slater\sthan|not\slater\sthan|at\sthe\slatest|"
    r"forbidden|prohibited|"
    r"not\sallowed|only\sallowed|may\s(?:not|only|never)|not\sexceed|exceed|"
    r"under\sno\scircumstances|hard\s(?:limit|cap|requirement|constraint)|"
    r"non-negotiable|hand\sin|submit|until\s\d|by\s(?:law|contract)|limited\sto|capped\sat|"
    r"cap\sis|limit\sis|is\sallowed|are\sallowed|"
    r"(?:can['’]t|cannot|can\snot|mustn['’]t)\s\w+\s(?:\w+\s){0,3}until|"
    r"not\smore\sthan|no\smore\sthan|never\smore\sthan|never\sless|always\sunder|always\sbelow|"
    r"has\suntil|have\suntil|expir(?:es?|y)|contractually|sla)\b|\b(?:no|nobody|nothing|none|"
    r"only)\b.{0,60}\bmay\b|\b(?:cannot|can['’]t)\sbe\b|\bby\s(?:the\s)?(?:"
    r"end\sof|\d|mon|tues|wednes|thurs|fri|satur|sun|january|february|march|april|may\b|june|july|"
    r"august|september|october|november|december|"
    r"next|noon|tomorrow|then)",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"\b(?:at\smost|at\sleast|maximum|minimum|max\.?|min\.?|up\sto|under\s\d|below\s\d|above\s\d|"
    r"within\s\d|less\sthan|fewer\sthan|not\sbelow|not\sabove|budget|quota|threshold|ceiling|"
    r"limit)\b",
    re.IGNORECASE,
)
# What holds of a thing from a date on; what people do on a date is an event.
_MILESTONE = re.compile(
    r"\b(?:ships?|launch(?:es)?|releases|(?:be|is)\sreleased|go(?:es)?\slive|opens?|starts?|begins?|ends?|"
    r"clos(?:e|es)|expires?|renews?|changes?|"
    r"lands?|goes\sout|rolls?\sout|freez(?:e|es)|kicks?\soff|takes?\seffect|(?:is|are)\s(?:due|"
    r"planned|scheduled|set|free|available|valid|vacant|open|closed)|"
    r"get\sin|(?:date|day|deadline|launch|start|end|opening|closing|premiere|release|handover)\s(?:is|was)|publish(?:es)?|switch(?:es)?\sover|cut-?over|goes\sdead)\b",
    re.IGNORECASE,
)
_PERSON_STARTS = re.compile(
    r"\b(?:i|we|he|she|they)\s(?:starts?|begins?|opens?|ends?|ships?|launch|releases?|close)\b",
    re.IGNORECASE,
)
_ABSENCE = re.compile(
    r"(?:\b(?:am|is|are|will\sbe|be)|['’](?:m|s|re))\s(?:\w+\s)?(?:away|out|off|abroad|absent|"
    r"on\s(?:\w+\s)?(?:leave|holiday|vacation|parental\sleave)|in\s(?-i:[A-Z])[\w-]+)\b"
    r".{0,40}\b(?:until|till|from|this|next|on|the|(?-i:[A-Z])\w+day|week|month)\b",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:born|every|each|always|usually|weekly|monthly|daily|(?:mon|tues|wednes|thurs|fri|satur|"
    r"sun)days|per\s(?:week|month|year)|a\s(?:week|month|year)|from\s[\w\s]{2,20}\son\b)",
    re.IGNORECASE,
)
_HAPPENING = re.compile(
    r"\b(?:arriv(?:e|es|ing)|leav(?:e|es|ing)|com(?:e|es|ing)|mov(?:e|es|ing)|"
    r"retir(?:e|es|ing)|marr(?:y|ies|ying)|fl(?:y|ies|ying)|turns|"
    r"(?:he|she|they|we|i)\s(?:starts?|begins?))\b",
    re.IGNORECASE,
)
_APPOINTMENT = re.compile(
    r"\b(?:appointment|follow-?up|consultation|physio\w*|meeting|meet|meets|call\swith|interview|"
    r"dinner\b|party|visit|visits|flight|"
    r"fly|flying|trip|workshop|wedding|"
    r"concert|exam|check-?up|surgery|operation|birthday\sdinner|conference|webinar|demo|"
    r"presentation|present|inspection|training|"
    r"session|hearing|ceremony|funeral|reunion|travel\w*|leave\sfor|vacation|holiday|day\soff|away|"
    r"retro|standup|review\swith|coming\s(?:over|by)|comes\s(?:over|by)|pick(?:s|ing)?\sup|"
    r"reservation|booked|table|lesson|match|race|marathon)\b",
    re.IGNORECASE,
)
_FAILURE = re.compile(
    r"\b(?:fail(?:ed|s|ing|ure)?(?!\s(?:ones|requests|attempts|jobs|runs|tests|payments|calls)\b)|broke(?!r)|broken|crash(?:ed|es|ing)?|died|killed|hung|hangs|"
    r"frozen|froze|ran\sout|out\sof\smemory|outage|locked|cracked|damaged|leak(?:ed|s|ing)?|stuck|"
    r"can['’]?t\slog\sin|cannot\slog\sin|stopped\sworking|not\sworking|doesn['’]t\swork|"
    r"went\sdown|is\sdown|are\sdown|timed?\sout|"
    r"lost|stolen|missing|wrong\s(?:size|item|colou?r|address|parcel|order)|expired|"
    r"corrupt(?:ed)?|rejected|bounced|incident|root\scause|"
    r"the\s(?:cause|culprit|reason)\s(?:was|is)|never\sarrived|hasn['’]t\sarrived|"
    r"has\snot\sarrived|delayed|overheat\w*|jammed|flooded|scratched|dented|torn|faulty|"
    r"(?:is|are|keeps?)\s\w+ing\sagain|(?:freezes|sticks|jams|crashes|drops|hangs|refuses|"
    r"prints\s(?:blank|nothing|gibberish)|skips|overheats|flickers|beeps|leaks|loops|restarts|reboots)"
    r"(?:\s\w+){0,2}\sagain|stops?\s(?:at|with|working|halfway)|stall(?:s|ed|ing)|act(?:s|ing)\sup|twice\sby\smistake|"
    r"charged\stwice|double-?charged|errors?|returned\s[45]\d\ds?|exhausted|unreachable|"
    r"unavailable)\b",
    re.IGNORECASE,
)
_LEISURE = re.compile(
    r"\b(?:saw|watched|read|listened|went\sto\s(?:see|a)|visited|played|tried|cooked|baked|heard|"
    r"met|attended|enjoyed|finished)\b",
    re.IGNORECASE,
)
_CONVENTION = re.compile(
    r"\b(?:standard|convention|policy|rule|guideline|style|always|never|every|each|by\sdefault|"
    r"practice)\b",
    re.IGNORECASE,
)
_BACKGROUND = re.compile(
    r"\b(?:used\sto|before\W*$|previously|formerly|originally|(?:was|were)\s(?:written|built|"
    r"designed|made|founded|named|set\sup)\s(?:by|in|with|after|on))\b",
    re.IGNORECASE,
)
_PLURAL_HEAD = re.compile(r"they\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|i['’](?:m|ve|d|ll))\b", re.IGNORECASE)
_WE = re.compile(r"\b(?:we|our|us|we['’](?:re|ve|ll|d)|someone|somebody)\b", re.IGNORECASE)
_TECH = re.compile(
    r"\b(?:api|database|server|stack|hosted|repo|repository|pipeline|cluster|port|version|backend|"
    r"frontend|deploy\w*|service|framework|staging|production|cache|queue|endpoint|schema|"
    r"library)\b",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"\b(?:writes|does|handles|owns|reviews|takes\scare|takes\sover|is\sresponsible|in\scharge|"
    r"prepares|covers)\b",
    re.IGNORECASE,
)
_GOAL = re.compile(
    r"\b(?:my|our)\s(?:goal|aim|plan|target|dream)\b|\b(?:want|hope|plan|aim|planning|saving|"
    r"training)\s(?:to|for)\b",
    re.IGNORECASE,
)


def _moves(clause: str, calendar: bool) -> bool:
    """Whether people act where a milestone would be: "she starts on Monday"."""
    return not calendar and bool(_PERSON_STARTS.search(clause))


def is_decision(*, clause: str) -> bool:
    """Whether a clause announces a decision."""
    return bool(_DECISION.search(clause))


def label_clause(
    *, clause: str, dates: tuple[FoundDate, ...], past: bool, request: bool, chat: bool
) -> Label:
    """How a clause, still in the speaker's own words, is filed.

    Follows the importance table of seed 000; what no pattern knows is a fact of importance 5, or
    3 in a chat between people.
    """
    personal = bool(_FIRST_PERSON.search(clause))
    if not chat or personal:
        profile = profile_label(clause=clause)
        if (
            profile
            and request
            and profile.attribute not in {"profile.language", "profile.timezone", "profile.contact"}
        ):
            profile = None
        if profile:
            return profile
    if _DECISION.search(clause) and not (chat and not past):
        return Label(_E, 7, "decision", "decision", confidence=0.85)
    if is_procedure(clause=clause, past=past):
        return Label(_P, 6, "procedure", "procedure", confidence=0.8)
    preference = None if past else preference_label(clause=clause, request=request)
    if preference and not (dates and _OBLIGATION.search(clause)):
        return preference
    return _event_or_fact(clause, dates, past, chat, personal)


def _event_or_fact(
    clause: str, dates: tuple[FoundDate, ...], past: bool, chat: bool, personal: bool
) -> Label:
    obliged = bool(_OBLIGATION.search(clause))
    moving = any(found.precision is Precision.RELATIVE for found in dates)
    calendar = any(found.precision is Precision.CALENDAR for found in dates)
    if _FAILURE.search(clause) and not obliged:
        return Label(_E, 5, "failure", "incident", confidence=0.8)
    if dates and _ABSENCE.search(clause):
        return Label(_E, 5, "event", "absence", confidence=0.8)
    if past and not obliged:
        if _BACKGROUND.search(clause):
            return Label(_S, 5, "technical_fact" if _TECH.search(clause) else "fact", "fact")
        if dates or not _PLURAL_HEAD.match(clause) or _WE.search(clause) or chat:
            casual = personal and bool(_LEISURE.search(clause))
            return Label(
                _E, 4 if casual or chat else 5, "activity" if personal else "event", "event"
            )
        return Label(_S, 5, "technical_fact" if _TECH.search(clause) else "fact", "fact")
    if obliged and not (moving and _APPOINTMENT.search(clause)):
        return Label(_S, 6, "constraint", "deadline" if dates else "requirement", confidence=0.85)
    if dates and _HABIT.search(clause):
        return Label(_S, 6, "schedule", "schedule")
    if dates and _APPOINTMENT.search(clause):
        return Label(_E, 6, "event", "event")
    if (calendar or moving) and _MILESTONE.search(clause) and not _moves(clause, calendar):
        return Label(_S, 6, "event", "milestone")
    if calendar or moving or (dates and _HAPPENING.search(clause)):
        return Label(_E, 6 if calendar else 5, "event", "event")
    if _LIMIT.search(clause):
        return Label(
            _S, 6 if not re.search(r"\bbudget\b", clause, re.I) else 5, "constraint", "limit"
        )
    if _GOAL.search(clause) and personal:
        return Label(_S, 4, "goals", "goal")
    if _CONVENTION.search(clause):
        return Label(_S, 5, "convention", "convention")
    if _TASK.search(clause):
        return Label(_S, 5, "tasks", "task")
    if chat:
        return Label(_S, 4 if personal else 3, "activity", "fact", confidence=0.6)
    return Label(
        _S,
        5,
        "technical_fact"
        if _TECH.search(clause)
        else "relationship"
        if "report" in words_of(clause)
        else "fact",
        "fact",
    )
