"""Whom "we" stands for: a team at work, a family, or two people and their life together."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...types import Role, SourceMessage

_FAMILY = re.compile(
    r"\b(?:family|fam|kids|children|husband|wife|son|daughter|sons|daughters|mom|mum|dad|parents|"
    r"twins|hubby|baby|toddler|at\shome)\b",
    re.IGNORECASE,
)
_HOME = re.compile(
    r"\b(?:family|kids|children|husband|wife|son|daughter|mom|mum|mother|dad|father|parents|"
    r"sister|brother|boyfriend|girlfriend|grandma|grandpa|landlord|pregnant|twins|at\shome|trip\sto|"
    r"holiday|vacation|wedding|birthday|dinner|recipe|garden|flat|apartment|school|dog|cat|"
    r"neighbou?rs?)\b",
    re.IGNORECASE,
)
_WORK = re.compile(
    r"\b(?:team|deploy\w*|release|client|customers?|project|sprint|repo|pipeline|deadline|budget|"
    r"meeting|staging|backend|"
    r"contract|invoice|colleagues?|department|stakeholders?|roadmap|ticket|server|database|"
    r"warehouse)\b",
    re.IGNORECASE,
)
# What only two people who live together do, or have.
_TOGETHER = re.compile(
    r"\bwe(?:['’](?:re|ve|ll|d))?\s(?:\w+\s){0,3}?(?:expecting\s(?:a\s(?:\w+\s)?(?:baby|child|boy|girl|son|daughter)|our|twins|another)|engaged|married|"
    r"divorc(?:ed|ing)|separated|trying\sfor\s(?:a|another)|moved?\sin\stogether|moving\sin\stogether|broke\sup|dating|honeymoon\w*|"
    r"adopt(?:ed|ing)?\s(?:a|an|two|our|another)\s(?:\w+\s)?(?:baby|child|boy|girl|son|daughter|cat|dog|kitten|puppy|rabbit)|"
    r"(?:had|having|have)\s(?:a|our|two|three|four|one|\d)\s(?:\w+\s)?(?:baby|babies|kids?|child|children|sons?|daughters?|boys|girls|twins|dogs?|cats?|ultrasound|wedding)|"
    r"(?:bought|buying|sold|selling|rent(?:ed|ing)?|own)\s(?:a|an|our|the)\s(?:\w+\s){0,2}(?:house|flat|apartment|home|cottage|caravan|campervan)|"
    r"been\stogether|both\b|(?:had|have|doing|starting|started)\s(?:a\smiscarriage|ivf|couples\s\w+)|met\s(?:on|through)\s(?:tinder|hinge|bumble|grindr|a\sdating\sapp)|pay\s(?:the\s|our\s)?(?:rent|mortgage)|celebrated?\sour)\b|"
    r"\bour\s(?:[\w-]+\s)?(?:son|daughter|kids?|children|baby|twins|wedding|marriage|honeymoon|engagement|ultrasound|anniversary|toddler|newborn|"
    r"parents|grandchildren|bedroom|bed|dog|cat|puppy|kitten|living\sroom|nursery|kitchen|rent|mortgage|landlord|landlady|vet|dentist|p(?:a)?ediatrician|nanny|babysitter|church|family|due\sdate)\b(?!\s(?:feature|release|branch|pipeline|company))",
    re.IGNORECASE,
)
# What nobody does alone: "we met on Tinder".
_EACH_OTHER = re.compile(
    r"\bwe(?:['’](?:re|ve))?\s(?:(?:just|only|finally|recently|first|have|had|are)\s)*(?:met\s(?:on|through)\s(?:tinder|hinge|bumble|grindr|a\sdating\sapp)|"
    r"mov(?:ed|ing)\sin\stogether|broke\sup|been\stogether|been\sdating|split\sup|separated|got\sback\stogether)\b",
    re.IGNORECASE,
)
_PARTNER = r"(?:wife|husband|partner|girlfriend|boyfriend|spouse|fianc[eé]e?|hubby|missus)"
_COUPLE = re.compile(
    rf"\b(?:my\s(?:[\w-]+\s)?{_PARTNER}(?:\s(?-i:[A-Z])\w+)?\sand\s(?:I|me)|(?:me|I)\sand\smy\s(?:[\w-]+\s)?{_PARTNER})\b",
    re.IGNORECASE,
)
# "We use Terraform": what a team does, whoever else was spoken of.
_TRADE = re.compile(
    r"\bwe(?:['’](?:re|ve))?\s(?:\w+ly\s|all\s|still\s|now\s|also\s|just\s)?(?:(?:us(?:e|ing)|run(?:ning)?|host(?:ing)?)\s(?:on\s)?(?-i:[A-Z])|"
    r"(?:deploy|ship|release|migrat|merg|refactor|onboard|invoic|provision|hir|rewrote|rewrit|launch)\w*\b)",
    re.IGNORECASE,
)
# Somebody from work may be spoken of at home.
_COLLEAGUE = re.compile(r"\b(?:my|his|her|a)\s(?:\w+\s)?colleagues?\b", re.IGNORECASE)
_MOST_MESSAGES = 40


def is_private(said: Sequence[SourceMessage]) -> bool:
    """Whether a conversation is about home and family, where "we" is no team."""
    text = " ".join(
        message.content[:2_000] for message in said[:_MOST_MESSAGES] if message.role is Role.USER
    )
    return bool(_HOME.search(text)) and not _WORK.search(_COLLEAGUE.sub("", text))


def group_of(
    *,
    name: str,
    sentence: str,
    message: SourceMessage,
    before: Sequence[SourceMessage],
    private: bool,
) -> str:
    """What "we" stands for in a sentence of `name`: they themselves where it is a couple.

    `before` are the last messages, `private` says that the conversation is about home.
    """
    if _EACH_OTHER.search(sentence):
        return f"{name} and their partner"
    if _TOGETHER.search(sentence):
        return name
    if _TRADE.search(sentence) or _WORK.search(sentence):
        return "the team"
    own = [
        each.content[:1_000]
        for each in before
        if each.role is message.role and each.name == message.name
    ]
    near = " ".join([*own, message.content[:2_000]])
    if _COUPLE.search(near):
        return name
    if not private:
        return "the team"
    return f"{name}'s family" if _FAMILY.search(near) else f"{name}'s group"
