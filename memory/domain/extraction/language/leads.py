"""Answers, greetings and fillers in front of what a sentence says."""

from __future__ import annotations

import re

from .words import word_set, words_of

_LEAD = re.compile(
    r"^(?:(?:(?:no\sneed|no\sworries|no\sharm\sdone|yes|yeah|yep|yup|no|nope|nah|ok|okay|well|so|oh|ah|hm+|hmm|um|uh|right|sure|great|"
    r"good|cool|nice|perfect|lovely|phew|ugh|oops|whoops|pls|ta|thx|cheers|thanks|thank\syou|hi\sthere|hey\sthere|hi|hiya|hey|hello|"
    r"morning|good\smorning|good\s"
    r"(?:evening|afternoon)|anyway|anyways|btw|by\sthe\sway|fyi|also|and|but|plus|sorry|ha|haha|lol|"
    r"wow|ooh+|aw+|p\.?s\.?|"
    r"alright|all\sright|got\sit|exactly|correct|absolutely|definitely|of\scourse|indeed|true|"
    r"please|then|oh\sand|one\smore\sthing|quick\snote|fine|awesome|sweet|super|great\squestion|"
    r"good\s(?:question|point|call|idea)|thanks\sa\slot|not\syet|not\sreally|bingo|"
    r"to\sbe\shonest|tbh|honestly|seriously|no\sseriously|never\smind|as\si\ssaid|in\sfact|basically|actually|just\sso\syou\sknow|"
    r"for\sthe\srecord|before\swe\s(?:start|begin)|before\si\sforget|first\soff|heads[\s-]up|"
    r"for\scontext|some\scontext|quick\sone|another\sthing|one\sthing|"
    r"sounds\sgood|first\sthing|will\sdo|deal|agreed|(?:small\s|one\s)?correction)\b"
    r"(?:\s(?!i['’]|i\s|we|you|the|my|it|that|this)(?-i:[A-Z])[\w-]{1,20}(?=\s?[,.!:]))?"
    r"\s*(?:[,.!:;–—-]+\s*|\s(?=\S))))+",
    re.IGNORECASE,
)
_KEEP_LEAD = re.compile(
    r"^(?:(?:good(?!\s(?:morning|evening|afternoon))|great|nice|sure|right|perfect|cool|fine|true|super|sweet|correct|lovely|awesome|"
    r"please|exactly|basically|so|well|one\sthing|another\sthing|then|thanks)\s(?=[a-z]))",
    re.IGNORECASE,
)
# "Can't, she's on tour", "It was, but it came on Friday": an answer by the verb alone.
_BARE_VERB = re.compile(
    r"(?:can|won|did|does|do|is|are|was|has|have|could|would|should)n?['’]t,\s(?=(?:i|we|he|she|it|they|my|our|the)\b)"
    r"|(?:it|that|they|he|she)\s(?:is|was|are|were|did|does|do|has|had)(?:n['’]t)?,\sbut\s(?=(?:it|they|he|she|the|we|i)(?:['’]\w+)?\s[a-z])",
    re.IGNORECASE,
)
_OPENERS = word_set(
    """
    yes yeah yep no nope ok okay well so oh ah hm hmm anyway btw also and but plus sorry haha
    wow alright please pls then hi hey hello um uh nah thanks ta thx phew ugh oops whoops
    actually lol
    """
)


def strip_lead(*, text: str) -> str:
    """The sentence without answers, greetings and fillers in front ("Yes, and …")."""
    bare = _BARE_VERB.match(text)
    rest = text[bare.end() :] if bare else text
    for _ in range(4):
        match = _LEAD.match(rest)
        if match is None or match.end() >= len(rest) or _KEEP_LEAD.match(rest):
            break
        following = words_of(rest[match.end() : match.end() + 20])
        plain = rest[: match.end()].rstrip()[-1:] not in ",.!:;–—-"
        last = words_of(match.group())[-1]
        if plain and (last not in _OPENERS or last == "no"):
            break
        if plain and following and following[0] in {"of", "for", "to", "as"}:
            break
        rest = rest[match.end() :]
    return rest.strip()
