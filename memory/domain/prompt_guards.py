"""What must never be stored: our own rendered memory and commands to the memory."""

from __future__ import annotations

import re

from .own_prompts import without_own_prompts

# A note or a tagged block that poses as the system's or the memory's own words.
_POSING_NOTE = re.compile(
    r"\[\s?(?:SYSTEM|INST|ASSISTANT|DEVELOPER|ADMIN|MEMORY|CONTEXT)\b[^\]\n]{0,400}\]"
    r"|<(?P<tag>memor(?:y|ies)|system|context|instructions?|assistant|user_profile)\b[^>]{0,80}>"
    r".{0,2000}?(?:</(?P=tag)\s?>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
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


def without_rendered_memory(*, text: str) -> str:
    """The text without prompts of ours and notes that pose as such, so that no memory echoes
    itself."""
    if "[" in text or "<" in text:
        text = _POSING_NOTE.sub(" ", _POSING_LINE.sub(" ", text))
    return without_own_prompts(text=text)


def is_command(*, text: str) -> bool:
    """Whether a sentence tries to steer the memory or the agent's rules, or reports such a try."""
    return bool(_COMMAND.search(text) or _ABOUT_COMMANDS.search(text))
