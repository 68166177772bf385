"""Pronouns that stand for somebody or something named before, and what their verbs become."""

from __future__ import annotations

import re

from .verbs import agree

PRONOUN_SUBJECT = re.compile(
    r"(?P<lead>^(?:and\s|but\s|so\s|also\s|(?:on|in|at|by|since|until)\s[^,]{2,40},\s)?|"
    r"(?:\s(?:when|because|that|since|if|while|and|but|so|before|after|until)\s))"
    r"(?P<pro>she|he|they|it|its|his|her|their)(?P<clitic>['’](?:s|re|ve|ll|d))?\b",
    re.IGNORECASE,
)
EXPLETIVE = re.compile(
    r"^\s?(?:(?:is|was|['’]s|will\sbe)\s(?:not\s|really\s|so\s|very\s|too\s|"
    r"always\s)?(?:important|worth|time|"
    r"hard|easy|nice|good|great|better|best|fine|ok|raining|true|possible|clear|about|like|all|"
    r"been|"
    r"fun|amazing|awesome|late|early|cold|hot|warm|wonderful|lovely|because|what|just)\b|"
    # "It is my brother who lives in Oslo" means the brother, and no thing named before.
    r"(?:is|was|['’]s)\s(?:[\w’'&-]+\s){1,5}who(?:se|m)?\b|seems|rains?\b|snows?\b|pours\b|freezes\b|"
    r"takes|took|"
    r"turns\sout|looks|makes|helps|feels|depends|would|might|could)",
    re.IGNORECASE,
)
WHOM = re.compile(
    r"\bhim\b(?!['’])|\bher(?=\W*$|\s(?:on|at|in|for|from|until|by|to|and|because|since|next|this|tomorrow)\b)"
)

# "Their boss is Colette", "they both work at Shell": of nobody who was named.
_OF_NOBODY = re.compile(
    r"(?:(?:On|In|By|Since)\s[^,]{3,30}(?:,\s\d{4})?,\s)?"
    r"(?:they|their|its|his|her|he|she)(?:['’]\w+)?\s[a-z]",
    re.IGNORECASE,
)
_TOLD_THEM = re.compile(
    r"(?:[^,]{3,20},\s\d{4},\s)?[A-Z][\w-]+\s(?:told|asked|gave|sent|showed|met|called|saw|knows?|likes?|"
    r"loves?|visited|helped|thanked)\s(?:them|him|her)\b(?!\s[a-z]+\s(?:is|was))"
    r"|(?:[^,]{3,20},\s\d{4},\s)?[A-Z][\w-]+\s(?:tells|asks|gives|sends|shows|meets|calls|sees|visits|helps|invites|"
    r"invited|hires|hired|pays|paid)\s(?:them|him|her(?=\s(?:on|at|in|that|to|about|every|next|this|tomorrow)\b|[.,;]|$))"
)
# "The team did that", "things like this"
_POINTS = re.compile(
    r"^(?:[^,]{3,30},\s)?(?:[Tt]he\steam|[A-Z][\w'’-]*(?:\s(?:family|group))?)\s(?:did|tried|does|do)\s(?:that|this)"
    # "This course" is named; "this" before no noun is not.
    r"(?=[.,;:!?]|$|\s(?:too|also|once|twice|again|before|after|and|but|or|in|on|at|for|with|by|from|as|to|last|since|until|when|"
    r"because|while|every|all|together|yesterday|today|now|already|a\s|two|three|many|several)\b)"
    r"|\b(?:got|has|have|did|knows?)\sall\s(?:that|this|those)[.!]*$"
    r"|\b(?:things?|stuff|something|one)\slike\s(?:this|that)\b"
)
# "It was June 13 before": what was, nobody said.
_IT_DATED = re.compile(
    r"It(?:['’]s|\s(?:is|was))\s(?:on\s|at\s|for\s)?(?:\d|[A-Z][a-z]+\s\d)[^;]*?"
    r"(?:before|originally|initially|at\sfirst|instead|now)?[.!]*$"
)
# "Dana's colleague recommended them", with nothing before that they could be.
_THEM_LAST = re.compile(r"[^,;]+\s[a-z]+\sthem[.!]*$")
_SEVERAL = re.compile(r"\b[a-z]{3,}s\b(?!['’])(?=.*\sthem)|\sand\s|\bpeople\b|\bchildren\b")


def begins_with_pronoun(*, text: str) -> bool:
    """Whether nobody but a pronoun is the subject of a sentence, or the owner of its subject."""
    return bool(_OF_NOBODY.match(text))


def leaves_open(*, text: str) -> bool:
    """Whether a sentence is about somebody whom only a pronoun names."""
    if (
        _IT_DATED.match(text)
        or _OF_NOBODY.match(text)
        or _TOLD_THEM.match(text)
        or _POINTS.search(text)
    ):
        return True
    return bool(_THEM_LAST.match(text)) and not _SEVERAL.search(text)


def agree_first(rest: str) -> str:
    """What follows a subject that was several and is one now: " want tea" gives " wants tea"."""
    match = re.match(
        r"(\s(?:(?:always|never|also|only|still|already|just|really)\s)?)([\w’']+)", rest
    )
    if match is None:
        return rest
    return match.group(1) + agree(word=match.group(2)) + rest[match.end() :]


# "Her name's Linh", "he's moved": what the clitic stands for.
_OWNED_IS = re.compile(r"^((?:\s[a-z]+){1,2})['’]s\s(?=[A-Z])")
_HAS = re.compile(r"\s(?:been|got|had|gone|done|moved|left|started)\b(?!-)")


def named_subject(*, match: re.Match[str], name: str, several: bool) -> str:
    """A sentence whose subject is the pronoun of `match`, with the name in its place.

    `several` says that "they" are several, so that their verb stays as it is.
    """
    pronoun = match.group("pro").lower()
    clitic = (match.group("clitic") or "").replace("’", "'")
    owned = pronoun in {"its", "his", "their"} or (pronoun == "her" and not clitic)
    rest = match.string[match.end() :]
    verb = {
        "'s": " has" if _HAS.match(rest) else " is",
        "'re": " are" if several else " is",
        "'ve": " have" if several else " has",
        "'ll": " will",
        "'d": " had",
    }.get(clitic, "")
    if owned:
        plural = name.endswith("s") and name.rpartition(" ")[2].islower()
        name += "'" if plural else "'s"
        rest = _OWNED_IS.sub(r"\1 is ", rest)
    if pronoun == "they" and not clitic and not several:
        rest = agree_first(rest)
    return f"{match.group('lead')}{name}{verb}{rest}"
