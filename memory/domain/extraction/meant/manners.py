"""How somebody wants to be talked to and reached: "keep answers short", "stop emailing".

No word says that it is to last, and yet it is no task: whoever says it means every answer.
"""

from __future__ import annotations

import re

_SAID = (
    r"(?:answers?|repl(?:y|ies)|responses?|messages?|explanations?|summaries|e-?mails|reports|"
    r"updates)"
)
_CURT = (
    r"(?:very\s|really\s|more\s)?(?:short(?:er)?|brief(?:er)?|concise|simple|terse|to\sthe\spoint|long(?:er)?|detailed|formal|informal|casual|"
    r"plain|polite|technical|under\s\d+\s\w+|below\s\d+\s\w+)"
)
_SYSTEMS = (
    r"(?:the\s)?(?:metric|imperial|celsius|fahrenheit|kilomet(?:er|re)s|miles|kilos?|kg|pounds|euros?|dollars|24[\s-]?h(?:our|r)?s?|12[\s-]?h(?:our)?|iso\sdates?|"
    r"british|american|uk|us\s(?:english|spelling|units)|simple|plain|short|formal|informal|bullet\s(?:points|lists)|bullets|markdown|emojis?|"
    r"first\snames?|inclusive|they/them|she/her|he/him|si\sunits|tabs|spaces|type\shints|"
    r"(?:dark|light)\smode|military\stime|my\s(?:first|last|full|middle)\sname)"
)
_OPENING = r"^(?:(?:and|also|oh|so|ok|please|just|could\syou|can\syou|would\syou|btw)[\s,]+)*"
_MANNER = re.compile(
    rf"{_OPENING}(?:(?:keep|make|write)\s(?:all\s)?(?:your\s|the\s|my\s)?{_SAID}\s{_CURT}|"
    rf"(?:use|stick\s(?:to|with)|give\sme|show|prefer|write\s(?:in|with)|(?:answer|reply|respond)\s(?:in|with))\s(?:only\s)?{_SYSTEMS}\b(?!\sfor\s(?:this|the|that)\b)|"
    rf"(?:give|send|write)\s(?:me\s)?{_CURT}\s{_SAID}|"
    r"(?:stop|quit|avoid|no\smore)\s(?:emailing|e-mailing|mailing|calling|texting|phoning|ringing|messaging|pinging|apologi[sz]ing|saying|"
    r"asking|suggesting|repeating|using|adding|sending|ending|starting|greeting|summari[sz]ing|explaining|recommending|being\sso)\b|"
    r"(?:call|address|refer\sto)\sme\s(?:as\s|by\s)?(?!back\b|when\b|at\b|on\b|if\b|after\b|before\b|in\b|later\b|tomorrow\b|a\staxi|an\b|crazy|old\b)\w+|"
    r"(?:text|e-?mail|message),?\s(?:and\s)?(?:don['’]t|do\snot|never|not)\s(?:call|ring|phone)\b|answer\s(?:me\s)?in\s(?:one|two|three|a\sfew|full|short|max|at\smost|\d+)\b|(?:text|email|e-mail|message|call|phone)\sme(?:\s(?:instead|rather|only)\b|,?\s(?:and\s)?(?:don['’]t|do\snot|never|not)\s(?:ring|call|phone|text|e-?mail)\b)|"
    rf"(?:skip|drop|leave\sout|omit|lose)\s(?:the|all|your)\s(?:intros?|introductions?|pleasantries|small\stalk|disclaimers?|emojis?|"
    r"formalities|flattery|preamble|caveats|jokes|exclamation\s(?:marks|points))\b)",
    re.IGNORECASE,
)
_THIS_ONE = re.compile(
    r"\b(?:this|that|these|those)\b|\bfor\s(?:the|my|our|your)\s|\bonce\b", re.IGNORECASE
)


def is_manner(*, text: str) -> bool:
    """Whether a request says how to talk to somebody or how to reach them, now and later."""
    return bool(_MANNER.match(text)) and not _THIS_ONE.search(text)
