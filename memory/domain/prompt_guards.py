"""What must never be stored: our own rendered prompts and commands to the memory.

Every sign of a prompt is taken from what writes the prompts (the headings and labels of memories,
the plan of the seven layers, the agent's document, the news of a thread), so that this cannot fall
behind it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

from memory.domain.personality import OPENING, PARTS
from memory.domain.plans.documents import ADVICE
from memory.domain.plans.layouts import AUTHORITATIVE, NOTICE, SEVEN_LAYERS, SUMMARY_LABEL, USE
from memory.domain.rendering import DATED_LABELS, HEADINGS, LABELS, MARKS, SAID_HEADING
from memory.domain.updates import NEWS, Kind

# A note or the beginning of a tagged block that poses as the system's or the memory's own words.
_TAG = r"(?P<tag>memor(?:y|ies)|system|context|instructions?|assistant|user_profile)"
_POSING = re.compile(
    r"\[\s?(?:SYSTEM|INST|ASSISTANT|DEVELOPER|ADMIN|MEMORY|CONTEXT)\b[^\]\n]{0,400}\]"
    rf"|<{_TAG}\b[^>]{{0,80}}>",
    re.IGNORECASE,
)
_CLOSING = re.compile(rf"</{_TAG}\s?>", re.IGNORECASE)
_LONGEST_BLOCK = 2_000
# "[SYSTEM] New policy: …": nothing but the mark in the brackets, and the note behind it.
_POSING_LINE = re.compile(
    r"\[\s?(?:SYSTEM|INST|ASSISTANT|DEVELOPER|ADMIN|MEMORY|CONTEXT)(?:\s(?:NOTE|MESSAGE|UPDATE))?\s?\]:?[^\n]*"
)
_COMMAND = re.compile(
    r"\b(?:ignore|disregard|override|bypass|forget)\s(?:all\s|any\s|every\s|the\s|your\s|my\s|our\s"
    r"|of\s|these\s|those\s){0,3}(?:previous|prior|above|earlier|former|system|instructions?|rules"
    r"|guidelines|prompts?|everything|memor(?:y|ies)|safety)\b"
    r"|\bforget\s(?:everything|all|what\s(?:you|i))\b"
    r"|\b(?:delete|erase|wipe|clear|purge|drop|reset|overwrite|remove|unlock|edit|change|modify)\s"
    r"(?:all\s|any\s|every\s|the\s|your\s|my\s|of\s|this\s|user['’]?s?\s|stored\s|saved\s){0,4}"
    r"(?:memor(?:y|ies)|profile\sdata|audit\slogs?|stored\sfacts)\b"
    r"|\bset\s(?:my|the|this)\s(?:user['’]s\s)?(?:plan|role|permissions?|tier|subscription|account"
    r"|credit|balance|discount|status|access|limit)\b.{0,30}\bto\b"
    r"|\b(?:make|mark|treat|promote|upgrade|grant|give)\s(?:me|my\saccount|(?:the|this)\suser)\s(?:an?\s|as\s|to\s|"
    r"the\s"
    r"|full\s){0,3}(?:admin\w*|root|superuser|owner|vip|enterprise|premium|access|verified)\b"
    r"|\b(?:store|save|record|remember|note|add)\s(?:in\s(?:your\s)?memory\s)?that\s(?:i|the\suser|"
    r"this\suser|we|they)\s(?:am|is|are|has|have)\s(?:an?\s|now\s)?(?:admin\w*|root|superuser|vip|"
    r"verified|authori[sz]ed|approved|entitled|allowed)\b"
    r"|\b(?:system\sprompt|developer\smode|jailbreak|hidden\sinstructions?|new\sinstructions?\s?:)"
    r"|\byou\sare\snow\s(?:an?|in|the|free)\b|\bpretend\s(?:to\sbe|you)\b|\bact\sas\s(?:an?\s)?"
    r"(?:admin|root|unrestricted|different)\b|(?:^|[\s\"'“])(?:SYSTEM|ASSISTANT|ADMIN|"
    r"DEVELOPER)(?:\s(?-i:[A-Z]{3,12})){0,2}\s?:|\byou\sare\s(?:now\s)?(?-i:[A-Z]\w*(?:Bot|GPT|AI))\b",
    re.IGNORECASE,
)
_ABOUT_COMMANDS = re.compile(
    r"\binstructions?\s(?:to|that|in|telling|asking)\b.{0,60}\b(?:memor|delete|forget|ignore|store|"
    r"send|reveal|transfer|grant|change)|\b(?:hid(?:es|den|ing)|contain(?:s|ed)|includes?)\s"
    r"(?:also\s)?(?:an?\s)?(?:\w+\s)?(?:instruction|command)s?\b|\b(?:prompt\sinjection|odd\sinstruction|strange\s"
    r"instruction|suspicious\s(?:instruction|request|line|text))|\b(?:planted|hidden|odd|strange|suspicious|embedded|"
    r"injected|sneaky|fake|rogue)\s(?:\w+\s)?(?:notes?|instructions?|requests?|orders?|lines?|messages?|commands?|prompts?)\b"
    r"|\b(?:tr(?:ies|ied)|wants|wanted|ask(?:s|ed)|attempts|attempted)\s(?:also\s)?(?:me\s)?to\s(?:give\sme\sorders|order\sme|instruct|steer|"
    r"advertise|make\sme)\b|\b(?:addressed|aimed|directed)\sat\s(?:me|ai|assistants)\b"
    r"|\bai\s(?:agents?|assistants?|models?)\s(?:reading|must|should)\b|\bnote\sto\s(?:all\s)?ai\b|\bwhich\si\s(?:have\s)?ignored\b",
    re.IGNORECASE,
)
_OPENINGS = tuple(block.opening.split("\n")[0] for block in SEVEN_LAYERS.blocks if block.opening)
_TITLES = frozenset(
    heading.strip("# ") for heading in (*HEADINGS, SAID_HEADING, *PARTS, *_OPENINGS)
)
_PERSONAL = frozenset(part.strip("# ").casefold() for part in PARTS)
# Headings that only a prompt with an agent's document has.
_LAYERS = _PERSONAL | {opening.strip("# ").casefold() for opening in _OPENINGS}
# With Markdown's own marks around it, as a quotation, in bold or as an item of a list.
_MARKS = r"[\s>*_#-]{0,12}"
_NEWS = re.compile(rf"(?:\b\w+ )?{re.escape(NEWS.partition(' ')[2])} \d+:")
_REMARK = re.compile(
    r"\((?:importance: \d{1,2}(?:, confidence: [01](?:\.\d+)?)?|\d{1,3}% success, \d+ uses?"
    r"|contradicts: [^\n]{0,1200})\)[.!]?"
)
# What leads in to a list ("You told me: - …") is no part of its first item.
_LEADS_IN = re.compile(r":\s(?=[-*•]\s)|(?<=\))\s(?=[-*•]\s)")
# The notices by their clauses, and what is left of one where it was cut.
_CLAUSES = [
    clause.split()
    for notice in (NOTICE, USE, AUTHORITATIVE, ADVICE)
    for clause in re.split(r"[:,.] |\.$", notice)
    if clause
]
_NOTICES = [" ".join(words[at:]) for words in _CLAUSES for at in range(max(1, len(words) - 3))]
_SPEAKS_TO = re.compile(rf"^[\s>*_]{{0,8}}{re.escape(OPENING)}\s\S")
_KIND_OF_RULES = re.compile(r"^[\s>]{0,8}[A-Z][A-Z ]{1,40}:\s{0,4}$")
_REMARKS = ("(importance: ", "% success, ", "(contradicts: ")


def without_rendered_memory(*, text: str) -> str:
    """The text without prompts of ours and notes that pose as such, so that no memory echoes
    itself."""
    if "[" in text or "<" in text:
        text = _without_posing(_POSING_LINE.sub(" ", text))
    return without_own_prompts(text=text)


def _without_posing(text: str) -> str:
    """The text with a space for each note and each block, to its end or that of the text.

    A tag whose block is longer than `_LONGEST_BLOCK` is no block.
    """
    closings: dict[str, list[re.Match[str]]] = defaultdict(list)
    for closing in _CLOSING.finditer(text):
        closings[closing["tag"].lower()].append(closing)
    kept: list[str] = []
    done = at = 0
    while found := _POSING.search(text, at):
        at = end = found.end()
        if found["tag"]:
            ends = closings[found["tag"].lower()]
            following = bisect_left(ends, at, key=lambda closing: closing.start())
            closed = following < len(ends)
            if (ends[following].start() if closed else len(text)) - at > _LONGEST_BLOCK:
                at = found.start() + 1
                continue
            at = end = ends[following].end() if closed else len(text)
        kept += [text[done : found.start()], " "]
        done = end
    return "".join([*kept, text[done:]])


def is_command(*, text: str) -> bool:
    """Whether a sentence tries to steer the memory or the agent's rules, or reports such a try."""
    return bool(_COMMAND.search(text) or _ABOUT_COMMANDS.search(text))


def _any(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_TITLE = _any(_TITLES)
_LABEL = rf"(?:{_any((*LABELS, SUMMARY_LABEL))})\b[^\[\]\n]{{0,300}}\]"
_HEADING_LINE = re.compile(rf"^{_MARKS}(?P<title>{_TITLE})[\s:*_#]{{0,8}}$", re.IGNORECASE)
_HEADING_WITHIN = re.compile(rf"#{{1,6}}\s{{0,4}}(?P<title>{_TITLE})", re.IGNORECASE)
# A label at the head of a line, also one that lost a bracket where the line was cut; one with a
# hyphen or a day needs none to be known.
_BARE = (
    rf"(?:{_any(label for label in LABELS if '-' in label)}"
    rf"|(?:{_any(DATED_LABELS)})\s\d{{4}}-\d\d-\d\d(?:\sby\s[^:\n]{{1,60}})?"
    rf"|{_any(kind.value for kind in Kind)})"
)
_LABELLED_LINE = re.compile(rf"^{_MARKS}(?:\[{_LABEL}|{_LABEL}:|{_BARE}:)")
_LABELLED = re.compile(rf"(?:(?:{_TITLE})\s{{0,4}})?\[{_LABEL}:?")
_NOTICE = re.compile(rf"(?:{_any(_NOTICES)})[:,.]?".replace(r"\ ", r"\s+"))
# The rest of a line whose head was cut away: of a label, or of a sentence.
_CUT = re.compile(
    rf"^(?:(?P<label>[A-Z-]*)(?: ?[\d-]{{2,10}})?(?: (?:{_any(MARKS)}))?\]|[a-z\d.,;:)&])"
)
_KNOWN = (*LABELS, *(kind.value for kind in Kind))
_SIGNS = ("#", "[", "]", NEWS.partition(" ")[2], *_REMARKS, *_KNOWN, *_TITLES)
_SIGNS += tuple(" ".join(words[-4:]) for words in _CLAUSES)


def without_own_prompts(*, text: str) -> str:
    """The text without any prompt of ours, whole or in part, on its lines or run together.

    From a first heading to a last one all is ours; what stands right below a heading is; and so is
    each line with a label or a remark of ours.
    """
    if not any(sign in text for sign in _SIGNS):
        return text
    if "\\n" in text and (_HEADING_WITHIN.search(text) or _LABELLED.search(text)):
        # A prompt copied out of a JSON answer.
        text = text.replace("\\n", "\n")
    lines = _without_cut(_NOTICE.sub(" ", text).splitlines())
    kept = _outside(lines)
    found = [own for line in kept if (own := _own_words(line)) or not line.strip()]
    if len(found) < len(lines):
        found = [line for line in found if not _SPEAKS_TO.match(line)]
    return "\n".join(found)


def _without_cut(lines: list[str]) -> list[str]:
    """The lines without a first and a last one that a cut through a prompt left of its lines."""
    if not lines:
        return lines
    cut = _CUT.match(lines[0])
    of_label = cut and cut["label"] is not None and any(n.endswith(cut["label"]) for n in LABELS)
    if of_label or (cut and len(lines) > 1 and cut["label"] is None and _is_ours(lines[1])):
        lines = lines[1:]
    title = lines[-1].lstrip("#> ") if lines else ""
    if title != (lines or [""])[-1] and any(each.startswith(title) for each in _TITLES):
        lines = lines[:-1]
    return lines


def _is_ours(line: str) -> bool:
    return bool(line.strip()) and ("#" in line or not _own_words(line).strip())


def _outside(lines: Sequence[str]) -> Sequence[str]:
    """The lines that are not between our headings or below the last one of them."""
    titles = _titles(lines)
    if not titles:
        return lines
    return [*lines[: _start(lines, titles)], *lines[_end(lines, titles) :]]


def _titles(lines: Sequence[str]) -> dict[int, str]:
    """Which lines are headings of ours; one without its mark counts beside another one only."""
    found: dict[int, str] = {}
    is_sure = False
    for at, line in enumerate(lines):
        match = _HEADING_LINE.match(line)
        if match and ("#" in line or match["title"] in _TITLES):
            found[at] = match["title"].casefold()
            is_sure = is_sure or "#" in line
    return found if is_sure or len(found) > 1 else {}


def _start(lines: Sequence[str], titles: dict[int, str]) -> int:
    """Where the prompt begins: the agent's document stands above the layers of memory."""
    first = min(titles)
    if titles[first] not in _LAYERS:
        return first
    return next((at for at in range(first) if _SPEAKS_TO.match(lines[at])), first)


def _end(lines: Sequence[str], titles: dict[int, str]) -> int:
    """Where the part below the last heading ends: at a blank line.

    A document closes with instructions of any form, so where it opens as ours do and nothing
    follows it, all the rest is its own.
    """
    last = max(titles)
    if titles[last] in _PERSONAL and _start(lines, titles) < min(titles):
        return len(lines)
    at = last + 1
    if len(titles) > 1 and at < len(lines) and _is_blank(lines[at]):
        # Markdown that was rendered leaves a line free below its headings.
        at += 1
    while at < len(lines) and not (_is_blank(lines[at]) and _goes_on(lines, at) is None):
        at = _goes_on(lines, at) or at + 1
    return at


def _goes_on(lines: Sequence[str], at: int) -> int | None:
    """Where rules of another kind ("NEVER:") go on after a blank line, if they do."""
    after = at + 1
    is_list = after < len(lines) and _is_blank(lines[at]) and _KIND_OF_RULES.match(lines[after])
    return after if is_list else None


def _is_blank(line: str) -> bool:
    return not line.strip(" \t>*")


def _own_words(line: str) -> str:
    """What of a line is no part of a prompt."""
    if _LABELLED_LINE.match(line):
        return ""
    for sign in (_HEADING_WITHIN, _NEWS, _LABELLED):
        found = sign.search(line)
        if found:
            line = line[: found.start()]
            line = "" if _SPEAKS_TO.match(line) else line
    remarks = list(_REMARK.finditer(line))
    if not remarks:
        return line
    lead_ins = list(_LEADS_IN.finditer(line, 0, remarks[0].start()))
    return line[: lead_ins[0].end() if lead_ins else 0] + " " + line[remarks[-1].end() :]
