"""What tool runs teach: the way that worked, the result that counts, the fact that was read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from uuid import UUID

from ..types import MemoryType
from .days.moments import month_day
from .drafts import Draft, merged_sources
from .kinds.labels import Label
from .language.leads import strip_lead
from .language.rewrite import third_person_text
from .language.tense import is_past
from .language.words import STOPWORDS, content_words, words_of
from .meant.acts import Act, act_of
from .meant.guards import is_command
from .threads.dialogue import Unit

_COMMAND_NAME = re.compile(r"(?:^|[;\n]\s?)([a-z][\w.]*(?:[-_/][\w]+)*)\b")
_SUCCESS = re.compile(
    r"\b(?:fixed|solved|resolved|repaired|restored|recovered|worked|works\s(?:again|now)|"
    r"did\sthe\strick|that\sdid\sit|"
    r"back\s(?:up|online|to\snormal)|green\sagain|succeeded|cleared\sit|unblocked|passes\snow|is\sgreen|now\spasses|"
    r"passing\snow|healthy\sagain)\b",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"\b(?:approved|confirmed|booked|reserved|refunded|issued|scheduled|cancelled|canceled|"
    r"registered|submitted|granted|"
    r"rejected|declined|shipped|accepted|credited|renewed|extended|moved\sto|rebooked|"
    r"rescheduled)\b",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"\b(?:[A-Z]{2,}[-#]?\d[\w-]*|#\d{3,}|[A-Z]+-[A-Z]*\d+|[A-Z0-9]{6,8}(?=\b)(?=\S*\d))"
)
_ARGUMENT = re.compile(
    r"\b(order|ticket|account|invoice|case|booking|claim|request|id|customer|flight|server|"
    r"user)[=:\s]#?([\w-]*\d[\w-]*)",
    re.IGNORECASE,
)
_NOT_A_REPORT = re.compile(
    r"\b(?:i(?:['’](?:m|ll|ve|d)|\swill|\scan|\scould|\sam|\shave)|let\sme|shall|should\si|i['’]d|"
    r"suggest|recommend|you\s(?:could|might|should|may)|"
    r"maybe|perhaps|probably|might|seems?|looks\slike|i\sthink|i\sguess|sorry|great|thanks?|glad|"
    r"noted|sure|of\scourse|"
    r"here\s(?:is|are)|would\syou)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"->\s?(?:ok|done|passed|success|created|updated|sent|saved|set|true|200)\b", re.IGNORECASE
)
_CHANGED = re.compile(
    r"->\s?[^;]*\b(?:ok|done|passed|created|updated|success\w*|applied|restarted|ready(?:=true)?|healthy)\b",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(
    r"\b(?:(?:are|is|['’](?:s|re))\s(?:all\s|now\s)?(?:gone|fixed|solved|back|fine|up|green|healthy|"
    r"ok|okay|working)|works?\s(?:again|now|fine)|working\sagain|that\sdid\sit|did\sthe\strick|"
    r"(?:it\s|that\s)?worked)\b",
    re.IGNORECASE,
)
_PASSIVE = re.compile(r"\b(?:has|have|was|were|is|are)\s(?:been\s)?\w+(?:ed|en)\b", re.IGNORECASE)
_FINDING = re.compile(
    r"\b(?:was|were|had|has|is)\s(?:never|not|no|off|held|stuck|missing|expired|exhausted|full|broken|down|wrong|"
    r"blocked|revoked|disabled|locked|corrupt\w*)\b|n['’]t\b|\b(?:missing|expired|ran\sout|"
    r"caused)\b",
    re.IGNORECASE,
)


@dataclass(slots=True)
class ToolRun:
    """The tool messages since the user last spoke, in one conversation."""

    commands: list[str] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    reports: list[Unit] = field(default_factory=list)
    last_turn: int = -9

    def observe(self, unit: Unit) -> None:
        """Take in a sentence of a tool message."""
        self.units.append(unit)
        self.last_turn = unit.turn
        text = unit.text.split("->", 1)[0] if "->" in unit.text else unit.text
        for match in _COMMAND_NAME.finditer(text):
            name = match.group(1)
            if (
                name not in STOPWORDS
                and name not in self.commands
                and ("-" in name or "_" in name or "->" in unit.text)
            ):
                self.commands.append(name)
        for part in unit.text.split(";")[1:]:
            head = words_of(part)[:1]
            if head and "->" in part and head[0] not in self.commands:
                self.commands.append(head[0])


def read_report(*, unit: Unit, run: ToolRun, problem: Draft | None) -> tuple[list[Draft], str]:
    """What an assistant's sentence after tool messages is worth, and a cause to add to the problem.

    Only reports count: offers, plans, guesses and anything that smells of an instruction do not.
    """
    said = strip_lead(text=unit.text).rstrip(". ")
    text = third_person_text(text=said, voice=unit.voice)
    sources = merged_sources([u.message_id for u in run.units], [unit.message_id])
    if not unit.own or is_command(text=unit.text) or unit.text.endswith("?"):
        return [], ""
    if _SUCCESS.search(text) and run.commands and _names_a_command(text, run):
        return [_procedure(unit, text, run, problem, sources)], ""
    act = act_of(text=said, chat=False)
    # "Credit note CN-88 has been issued" reads like an order to credit something.
    states = act is Act.STATEMENT or (act is Act.REQUEST and _PASSIVE.search(said))
    if _NOT_A_REPORT.search(said) or not states:
        return [], ""
    day = month_day(unit.at.date())
    if _RESULT.search(text) and (_CODE.search(text) or _ARGUMENT.search(text)):
        label = Label(MemoryType.EPISODIC, 5, "event", "result", confidence=0.9)
        return [
            Draft(f"On {day}, {_with_argument(text, run)}", label, sources, unit.turn, unit.at)
        ], ""
    if problem is not None and _FINDING.search(text) and unit.turn - run.last_turn <= 1:
        return [], text
    if unit.turn - run.last_turn <= 1 and _told_by_tool(text, run):
        past = is_past(text=text) or bool(_FINDING.search(text))
        kind = MemoryType.EPISODIC if past else MemoryType.SEMANTIC
        label = Label(kind, 5, "failure" if past else "tasks", "fact", confidence=0.7)
        return [Draft(text, label, sources, unit.turn, unit.at, clause=text)], ""
    if (
        re.match(r"(?:they|the\s\w+|it|he|she)\b", text, re.IGNORECASE)
        and unit.turn - run.last_turn <= 1
        and _reads(run)
        and set(content_words(text)) & _seen(run)
    ):
        label = Label(MemoryType.SEMANTIC, 5, "tasks", "fact", confidence=0.7)
        return [Draft(text, label, sources, unit.turn, unit.at)], ""
    return [], ""


def confirmed_fix(*, unit: Unit, text: str, run: ToolRun, problem: Draft | None) -> Draft | None:
    """The way of doing that a user confirms ("ok, the errors are gone") after tools were run.

    None where nothing was changed, or where the words tell of something else.
    """
    steps = [
        " ".join(tool.text.split("->", 1)[0].split())
        for tool in run.units
        if _DONE.search(tool.text) or _CHANGED.search(tool.text)
    ]
    if problem is None or not steps or unit.turn - run.last_turn > 3 or not _CONFIRMED.search(text):
        return None
    clause = re.sub(r"\b(?:again|just|today|now)\b\s?", "", problem.clause).strip(" .")
    found = problem.text.partition("; ")[2].rstrip(". ")
    because = f" and {found}" if found else ""
    content = (
        f"When {clause[:1].lower() + clause[1:]}{because}: {', then '.join(steps[:4])}; "
        f"this worked on {month_day(unit.at.date())}"
    )
    sources = merged_sources(problem.sources, [u.message_id for u in run.units], unit.sources)
    label = Label(MemoryType.PROCEDURAL, 6, "procedure", "tool_pattern", confidence=0.8)
    return Draft(content, label, sources, unit.turn, unit.at)


def _told_by_tool(text: str, run: ToolRun) -> bool:
    """Whether a report repeats what a tool showed: two values, or one where the tool only reads.

    What a tool has just done ("-> ok") is no fact to keep.
    """
    if any(_DONE.search(u.text) for u in run.units if u.turn == run.last_turn):
        return False
    seen = _seen(run)
    values = {word for word in words_of(text) if any(char.isdigit() for char in word)} & seen
    shared = (set(content_words(text)) & seen) | values
    return len(values) >= (1 if _reads(run) else 2) or (bool(values) and len(shared) >= 2)


def _seen(run: ToolRun) -> set[str]:
    """The words of the last tool message, and their parts between hyphens."""
    shown = " ".join(unit.text for unit in run.units if unit.turn == run.last_turn)
    return {part for word in words_of(shown) for part in (word, *re.split(r"[-_/.]", word))}


def _reads(run: ToolRun) -> bool:
    return any(
        re.search(r"read|mail|search|fetch|get|open|lookup|query|list|show|find", name)
        for name in run.commands
    )


def _names_a_command(text: str, run: ToolRun) -> bool:
    low = text.lower()
    return any(name in low for name in run.commands) or len(run.commands) >= 2


def _procedure(
    unit: Unit, text: str, run: ToolRun, problem: Draft | None, sources: tuple[UUID, ...]
) -> Draft:
    missing = [name for name in run.commands if name not in text.lower()]
    steps = f" (steps: {', then '.join(run.commands)})" if missing and len(run.commands) > 1 else ""
    body = re.sub(r"^(?:fixed|solved|done|resolved)\s?[:,–-]\s", "", text, flags=re.IGNORECASE)
    lead = ""
    if problem is not None:
        clause = re.sub(r"\b(?:again|just|today|now)\b\s?", "", problem.clause).strip(" .")
        lead = f"When {clause[:1].lower() + clause[1:]}: "
        sources = merged_sources(problem.sources, sources)
    content = f"{lead}{body}{steps}; this worked on {month_day(unit.at.date())}"
    label = Label(MemoryType.PROCEDURAL, 6, "procedure", "tool_pattern", confidence=0.8)
    return Draft(content, label, sources, unit.turn, unit.at)


def _with_argument(text: str, run: ToolRun) -> str:
    for unit in run.units:
        match = _ARGUMENT.search(unit.text)
        if match and match.group(2) not in text and match.group(1).lower() != "id":
            head, comma, _ = text.partition(", ")
            return (
                f"{head} for {match.group(1).lower()} {match.group(2)}"
                if comma
                else f"{text} for {match.group(1).lower()} {match.group(2)}"
            )
    return text
