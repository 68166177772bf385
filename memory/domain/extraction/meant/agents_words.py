"""What the agent is said to have said: reported back to it, asked about or denied, never a fact.

Most of it came from the memory itself, so that storing it would make the memory its own source.
"""

from __future__ import annotations

import re

from ..clauses import opens_clause

_LEAD = (
    r"^(?:(?:and|but|so|well|hey|hm+|no|wait|sorry|earlier|before|yesterday|(?:just\s)?now|(?:last|this|one)\s\w+|a\s\w+\sago|"
    r"in\s(?:your|the|this|our|an?)\s(?:[\w-]+\s){0,2}\w+|(?:[\w-]+\s)?messages?\sago|i\s(?:see|noticed?|think|thought|believe)(?:\sthat)?),?\s){0,3}"
)
_NOTES = (
    r"(?:(?:your|the|my)\smemor(?:y|ies)|your\s(?:[\w-]+\s)?(?:notes?|summar(?:y|ies)|profile|records?|database|answers?|repl(?:y|ies)|"
    r"messages?|prompt|context|system|list|files?|data|information))"
)
_SAID = (
    r"(?:sa(?:y|ys|id|ying)|t(?:ell|ells|old|elling)|wr(?:ite|ites|ote|itten|iting)|mention(?:s|ed|ing)?|not(?:e|es|ed)|claim(?:s|ed|ing)?|"
    r"stat(?:e|es|ed|ing)|th(?:ink|inks|ought|inking)|believ(?:e|es|ed|ing)|assum(?:e|es|ed|ing)|remember(?:s|ed|ing)?|recall(?:s|ed)?|"
    r"suppos(?:e|es|ed)|insist(?:s|ed|ing)?|impl(?:y|ies|ied)|record(?:s|ed)?|stor(?:e|es|ed)|saved?|list(?:s|ed)?|"
    r"repeat(?:s|ed|ing)?|conclud(?:e|es|ed)|guess(?:ed|es)?|show(?:s|ed)?|contain(?:s|ed)?|assert(?:s|ed)?)"
)
_ADVERBS = (
    r"(?:(?:have|has|had|do|does|did|are|were|seem(?:s|ed)?\sto|appear(?:s|ed)?\sto|keep|kept|just|once|also|still|always|"
    r"already|even|apparently|clearly|earlier|before|often|wrongly|now|about\sme|on\sme|here)\s){0,4}"
)
# "You told me earlier that I own a boat", "your notes say I am a nurse".
_TOLD = re.compile(
    rf"{_LEAD}(?:you(?:['’]ve|['’]re|['’]d)?|(?P<notes>{_NOTES})(?:\s(?:about|of|on)\s(?:me|us|my\s\w+))?)\s{_ADVERBS}{_SAID}\b"
    r"(?:\s(?:to\s)?(?:me|us))?(?:\s(?:earlier|before|once|just\snow|yesterday|today|again|already|(?:last|this|the\sother)\s\w+|"
    r"in\s(?:your|the|this|our|an?)\s(?:[\w-]+\s){0,2}\w+|(?:[\w-]+\s){1,2}ago))?[,:]?\s(?P<that>that\s)?(?P<what>.+)$",
    re.IGNORECASE,
)
# With what a statement begins; "to use tabs" and "tests for the parser" are none.
_SUBJECT = re.compile(
    r"(?:i|my|we|our|he|she|it|they|his|her|their|there|the|this|these|those)\b|(?-i:[A-Z])",
    re.IGNORECASE,
)
_ACCORDING = re.compile(
    rf"{_LEAD}(?:according\sto\s(?:you\b|{_NOTES})|(?:based\son|going\sby|judging\sby|from)\s(?:what\syou\b[^,]*?\s\w+|{_NOTES})"
    rf"|it\s(?:says?|said)\s(?:here\s)?in\s{_NOTES}|(?:in|per)\s{_NOTES}(?:\sabout\sme)?,?\s(?:it\s(?:says?|said)|(?:i|my|we|our)\b)"
    rf"|(?:you|{_NOTES})\s(?:have|has|got|had|['’]ve\sgot)\s(?:me|my\s[\w\s]{{2,30}}|it|that|this|something)\s(?:all\s)?wrong\b"
    r"|you\s(?:have|had|['’]ve)\s(?:got\s)?(?:me|us|my\s[\w\s]{2,20}|it)\s(?:down|noted|listed|stored|saved|recorded)\s(?:as|that|for)\b"
    r"|you\s(?:have\s|had\s)?(?:called|addressed|listed|described|labelled|labeled|recorded|saved|noted|took|take|mistook|see|"
    r"treat|treated)\s(?:me|us)\s(?:as\s|for\s)?(?:an?\b|the\b|(?-i:[A-Z]))"
    r"|(?:what|who)\s(?:on\searth\s)?(?:makes?|made|gave|told)\syou\s(?:the\s(?:idea|impression)\s)?(?:think|believe|say|assume|that|i|my|we|our)\b)",
    re.IGNORECASE,
)
# "I don't see why you think I am vegan", "I never told you that I own a farm".
_DISPUTED = re.compile(
    rf"\b(?:why|how|where|what\smakes|what\smade)\s(?:(?:do|does|did|would|have)\s)?(?:you|{_NOTES})\s{_ADVERBS}"
    rf"(?:(?:came?|get|got|have|had|took?|take)\b(?:\s\w+){{0,3}}?\s(?:that\s|from\s)?|{_SAID}\s)(?:to\s)?(?:me\s|us\s)?(?:that\s)?"
    r"(?:i|my|me|we|our|us)\b"
    r"|^(?:(?:but|no|and|well),?\s)?i\s(?:never|didn['’]t|did\snot|have\snever|haven['’]t|have\snot)\s(?:ever\s)?"
    r"(?:(?:tell|told)\syou|(?:say|said|mention(?:ed)?|claim(?:ed)?|state(?:d)?|write|wrote)(?:\s(?:to\syou|anywhere))?)\s"
    r"(?:that\s)?(?:i|my|we|our)\b"
    r"|^(?:(?:but|no|and|well),?\s)?it(?:['’]s|\sis|\swas)\s(?:not\s(?:true|right|correct|the\scase)|n['’]t\strue|wrong|false|untrue|incorrect|"
    r"a\smistake)\sthat\b",
    re.IGNORECASE,
)
_KNEW = (
    r"(?:hear|heard|learn(?:ed|t)?|know|knew|found\sout|gather(?:ed)?|underst(?:and|ood)|see|saw|read|got\s(?:it|that|this)|have\s(?:it|this)|"
    r"took|take\sit|discovered|remember(?:ed)?)"
)
# "I was told by you that I own a boat", "I heard from you that …", "it was you who said …".
_FROM_AGENT = re.compile(
    rf"{_LEAD}(?:(?:i|we)(?:['’](?:ve|m))?\s(?:(?:was|were|am|got|have|had|just|also|once|only|recently|already|been)\s){{0,4}}"
    r"(?:told|informed|reminded|assured|advised|notified)\s(?:[\w\s]{0,20}\s)?by\s(?:you\b|your\s(?:notes?|memory|app|system|assistant|bot))"
    rf"|(?:i|we)(?:['’]ve)?\s(?:(?:just|also|once|only|have|had|first)\s){{0,2}}{_KNEW}\s(?:[\w\s]{{0,20}}\s)?(?:from\s(?:you\b(?!\sknow)|{_NOTES})|(?:in|off|on)\s{_NOTES})"
    r"|(?:it\swas|it['’]s|it\sis)\s(?:you|your\s\w+)\s(?:who|that)\s"
    r"|(?:apparently|so|and),?\s(?:from|by|judging\sby|going\sby|if)\s(?:what\s)?you\b[^,]{2,40},\s"
    r"|your\s(?:exact\s|own\s|last\s)?(?:words|claim|statement|answer|idea|theory|guess|summary)\s(?:was|were|is|are)\s(?:that\b|[\"“:])"
    r"|(?:my\s(?:ai|digital)\sassistant|the\s(?:ai|chatbot))\s(?:(?:once|just|also)\s)?"
    r"(?:(?:told|informed|reminded)\s(?:me|us)|(?:said|says|claims?|claimed)\s(?:that\s)?(?:i|my|we|our))\b)",
    re.IGNORECASE,
)
# "I own a boat, you said": whose words they are comes last.
_YOU_SAID = re.compile(
    rf"(?:,|\s[–—-])\s(?:(?:or\s)?(?:so|at\sleast|as|like|or)\s)*(?:you\s(?:(?:have|had|just|once|also|always|keep|kept)\s){{0,2}}{_SAID}|(?:according\sto|says?|said)\s(?:you|{_NOTES}))"
    r"(?:\s(?:me|us|so|that|it|earlier|before|once|just\snow|yesterday|today|last\s\w+|in\s(?:your|the)\s(?:[\w-]+\s)?\w+))*[.!]*$",
    re.IGNORECASE,
)
# "I'll take it in the evening, like you told me": what was advised is now meant.
_INTENDS = re.compile(
    r"(?:(?:ok|okay|yes|so|and|well|fine|alright),?\s){0,2}(?:i|we)(?:['’]ll|\swill|(?:['’]m|\sam|['’]re|\sare)\s(?:now\s)?going\sto)\s"
    r".*,\s(?:just\s)?(?:like|as)\syou\b",
    re.IGNORECASE,
)
_REMIND = re.compile(
    r"as\syou\s(?:already\s)?(?:know|remember|recall|noted)\b[.!]*$", re.IGNORECASE
)
_REPORTS = re.compile(
    r"\b(?:you|your|i|memor(?:y|ies)|assistant|bot|chatbot)\b|\bit\b", re.IGNORECASE
)


def is_agents_word(*, text: str) -> bool:
    """Whether a sentence to the agent reports, asks about or denies what the agent said or noted.

    What the agent told the user to do, and "as you know", are no such.
    """
    if not _REPORTS.search(text):
        return False
    if _ACCORDING.match(text) or _FROM_AGENT.match(text) or _DISPUTED.search(text):
        return True
    if _YOU_SAID.search(text) and not (_REMIND.search(text) or _INTENDS.match(text)):
        return True
    told = _TOLD.match(text)
    if told is None:
        return False
    if told["notes"] or told["that"]:
        return True
    return bool(_SUBJECT.match(told["what"])) and opens_clause(text=told["what"])


# "You know that I live in Porto", "I told you my daughter is called Ada": said again, and meant.
_REMINDS = re.compile(
    r"^(?:(?:and|but|well|so|hey|as),?\s)?(?:"
    r"you\s(?:(?:should|must|may|might|already|also|do|did|just|probably)\s){0,2}(?:know|knew|forget|forgot)|"
    r"i\s(?:(?:have|already|just|also|once|did)\s){0,2}(?:told|tell)\syou(?:\s(?:already|before|earlier|once|yesterday|last\s\w+))?"
    r"|(?:have\s)?you\sforgotten|you(?:['’]re|\sare)\s(?:right|correct)|(?:(?:as|like)\s)you\s(?:already\s)?"
    r"(?:said|say|noted|mentioned|remember|wrote|know))(?:\sthat)?,?\s(?P<what>(?:i|my|we|our)\b.*)$",
    re.IGNORECASE,
)


def without_reminder(*, text: str) -> str:
    """ "You know that I live in Porto" as what the agent is reminded of, "I live in Porto"."""
    reminds = None if text.endswith("?") else _REMINDS.match(text)
    if reminds is None or not opens_clause(text=reminds["what"]):
        return text
    return reminds["what"][:1].upper() + reminds["what"][1:]
