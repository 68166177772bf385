"""What stands around a sentence and tells nothing: a frame in front, an aside, an empty tail."""

from __future__ import annotations

import re

from .tense import is_past
from .words import COMMON_OPENERS, DETERMINERS, KIN, words_of

_FRAME = re.compile(
    r"^(?:i|we)\s(?:just\s)?(?:measured|checked|tested|looked|found|noticed|learned|discovered|"
    r"counted|confirmed)"
    r"\s?(?:it|again|them)?\s?:\s|^(?:what\s(?:i|we)\s(?:do\s)?(?:need|want)(?:\s(?:help|"
    r"a\shand))?(?:\swith)?|before\swe\s\w+|"
    r"(?:for|re|regarding|about|on|as\sfor)\sthe\s(?:record|handbook|wiki|notes|minutes|file|docs)|"
    r"one\s(?:more\s)?thing|another\sthing|two\sthings|some\sfacts|some\sbackground|context|"
    r"background|quick\s(?:note|facts)|(?:the\s)?(?:short|long)\s(?:version|story)|in\sshort|"
    r"(?:a\s)?quick\s(?:one|thing|word)(?:\s(?:for|on|about)\s(?:the|our|my)\s[\w\s-]{3,20})?|"
    r"good\snews|bad\snews|news|update|status|fyi|note|also|a\sfew\s(?:things|facts)|"
    r"here(?:['’]s|\sis|\sare)\s[\w\s]{1,30}|(?:a\s)?note\s(?:to\sself|for\sthe\s\w+)|"
    r"for\syour\s(?:notes|information|records)|"
    r"(?:a\s)?(?:little|small|short)\s(?:update|note)|(?:turn|message|msg|item|point|fact|entry|q|a)\s?#?\d{1,4}|my\s(?:details|setup|situation))\s?"
    r"(?::|\s[–—-]\s)\s*",
    re.IGNORECASE,
)
# "Nobody else may cook it: "touch my pot and die"": the speech at the end says nothing more.
_SAID_LAST = re.compile(
    r"(?:[:,]|\s[–—-])\s(?:\w+\s){0,3}[\"“](?:[^\"”\s]+\s){3,}[^\"”\s]+[\"”][.!]*$"
)
_THIS_IS_HOW = re.compile(
    r"^(?:this|that|here)(?:['’]s|\sis)\show\s(?=[^:]{3,60}:\s)", re.IGNORECASE
)
# "Put in the runbook that it never reloads": what is to be written there.
_PUT_DOWN = re.compile(
    r"^(?:please\s)?(?:put|note|write|add|record|mention|document|file|jot\sdown|write\sdown|put\sdown)\s(?:it\s)?(?:down\s)?"
    r"(?:(?:in|into|on|to|for)\s(?:the|my|our|your)\s[\w-]+(?:\s[\w-]+)?\s)?that\s(?=\S+\s\S+\s\S)",
    re.IGNORECASE,
)
# "Anna (wife) is a dentist": whose wife goes without saying.
_BARE_KIN = re.compile(
    rf"(?<=[a-z])\s\((?P<kin>{'|'.join(sorted(KIN - {'family', 'kids', 'children', 'twins'}))})\)",
    re.IGNORECASE,
)
_SHOWN = re.compile(
    r"\b(?:errors?|messages?|logs?|prints?|shows?|titled?|called|named|labell?ed|reads|subject|signs?|wording|phrase|line)\b",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:,|\s[–—-])\s(?:(?:[\w’']+\s)?(?:insists?|demands?)|please|by\sthe\sway|you\sknow|right|"
    r"though|I\sthink|(?:the\s[\w’'-]+(?:\s[\w’'-]+)?\s)?I\smean|I\sguess|thanks|thank\syou|haha|lol|(?:please\s)?(?:put|note|add|write|jot|"
    r"make\sa\snote\sof)\s(?:that|this|it)(?:\s(?:in|down|on\sthe\slist))?(?:\s(?:as\swell|too|"
    r"please))?|(?:so\s)?please\s(?:tell|let|note|keep|make\ssure|mind|bear)\b[^,;]{0,40}|"
    r"so\s(?:expect|brace|bear|be\s(?:ready|patient|warned))\b[^;]{0,80}|just\sso\syou\sknow|"
    r"(?:please\s)?(?:keep|save|store|file)\s(?:it|that|this)(?:\s\w+){0,3}|"
    r"in\scase\s(?:that|it|this|you|anyone)\s[^,;]{3,60}|ha(?:ha)?|sigh|phew|ugh|yay|oops|btw|"
    r"if\s(?:(?:that|it)\s(?:helps|matters)|you\s(?:need|want|care|have\sto)\b[^,;]{0,40})|believe\sit\sor\snot|as\syou\sknow|fyi)(?=[.!]*$)",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r",\s(?:(?:he|she|they|the\s\w+)\s(?:says?|said|tells?\sme|told\sme|reckons?|wrote|writes)"
    r"|i['’]m\stold|as\sfar\sas\si\sknow|mind\syou)(?=,\s|[.!]*$)",
    re.IGNORECASE,
)
_BY_THE_WAY = re.compile(r",?\s(?:btw|by\sthe\sway|tbh|lol|haha)(?=[,.;!]|$)", re.IGNORECASE)
_THOUGH = re.compile(r"\s(?:though|tho|lol|haha)(?=[.!]*$)", re.IGNORECASE)


# "Jonte, the new apprentice, he's not to go up": the pronoun only picks up the name again.
_PICKED_UP = re.compile(
    r"^(?P<who>(?:[Mm]y|[Oo]ur|[Tt]he)\s[\w-]+|[A-ZÀ-Þ][\w-]+)"
    r"(?P<aside>,\s(?:the|my|our|a|an)\s[\w’'-]+(?:\s[\w’'-]+){0,3})?,\s"
    r"(?:he|she|it|they)(?P<clitic>['’](?:s|re|ll|d|ve))?\s"
)
_CLITICS = {"s": " is", "re": " are", "ll": " will", "d": " had", "ve": " have", "": ""}


def with_one_subject(*, text: str) -> str:
    """The sentence without the pronoun that only picks up its subject again."""
    match = _PICKED_UP.match(text)
    if match is None or words_of(match.group("who"))[0] in COMMON_OPENERS - DETERMINERS - {
        "my",
        "our",
    }:
        return text
    aside = f"{match.group('aside').rstrip()}," if match.group("aside") else ""
    verb = _CLITICS[(match.group("clitic") or "")[1:]]
    if verb == " is" and re.match(r"(?:been|got|had|gone|done|moved|left)\b", text[match.end() :]):
        verb = " has"
    return f"{match.group('who')}{aside}{verb} {text[match.end() :]}"


# "So I finally quit", "turns out I'm allergic": what only leads over to the statement.
_LEADS_OVER = re.compile(
    r"^(?:(?:so|though|although|anyway|and|but)[\s,]+)*(?:so|though|although|anyway|(?:it\s)?turns\sout(?:\sthat)?(?![^.]{0,60}(?:\bnot\b|n['’]t\b|\bnever\b|\bno\slonger\b))|long\sstory\sshort|"
    r"(?:like|as)\si\s(?:said|mentioned|told\syou)(?:\s(?:before|earlier|already))?|as\smentioned|(?:the\s)?(?:truth|thing|fact)\sis(?:\sthat)?|"
    r"to\sbe\sfair|as\sa\smatter\sof\sfact|you\sknow|believe\sit\sor\snot|funn(?:y|ily)\senough|fun\sfact|it\sso\shappens\sthat|"
    r"good\sthing)\b[\s,:–—-]+(?=(?:I|we|We|my|My|our|Our)(?:['’]\w+)?\s)(?![^.]{0,80},\s(?:but|it|that|he|she|they)\b)",
    re.IGNORECASE,
)
_THEN = re.compile(r"^(?:and\s)?then\s(?=(?:I|we)\s)", re.IGNORECASE)


def trim(*, text: str) -> str:
    """The sentence without a framing head ("What I need: …") and an empty tail (", please")."""
    text = _BY_THE_WAY.sub("", _ASIDE.sub("", _FRAME.sub("", _THIS_IS_HOW.sub("How ", text))))
    text = _PUT_DOWN.sub("", _LEADS_OVER.sub("", text))
    then = _THEN.match(text)
    if then and is_past(text=text[then.end() :]):
        text = text[then.end() :]
    text = _BARE_KIN.sub(r" (my \g<kin>)", text)
    if not _SHOWN.search(text):
        text = _SAID_LAST.sub("", text)
    for _ in range(3):
        shorter = _TAIL.sub("", text)
        if shorter == text:
            break
        text = shorter
    return with_one_subject(text=_THOUGH.sub("", text).strip(" ,;-–—"))
