"""What people say only to react: thanks, farewells, cheers, praise, sympathy, anticipation."""

from __future__ import annotations

import re

from ..days.date_expressions import DATE_EXPRESSION
from ..language.names import names_in
from ..language.words import KIN, PEOPLE_NOUNS, PETS, word_set, words_of
from .information import specific_words

_REACTION = re.compile(
    r"^(?:(?:oh|ah|aw+|hey|yeah|yep|yes|no|well|and|so|but|wow|ha)[\s,.!]+){0,3}(?:"
    r"(?:many\s|big\s)?(?:thanks|thank\s(?:you|u)|thx|cheers|appreciate|congrat\w*|kudos|bravo)\b|"
    r"(?:good)?bye\b|see\s(?:you|ya)\b|talk\s(?:to\syou\s)?(?:soon|later)\b|take\scare\b|"
    r"good\s?(?:night|luck)\b|have\s(?:a\s)?(?:fun|great|good|nice|lovely|safe)\b|"
    r"(?:who+a+h?|wo+a+h|wow|ha(?:,?\s?ha)+|lol|omg|aw+|yay|oops|ouch|phew|hooray|woo\w*|yum\w*)\b|"
    r"(?:absolutely|definitely|totally|exactly|certainly|indeed|agreed|sure(?:\sthing)?|"
    r"for\ssure|of\scourse|no\s(?:way|problem|worries|doubt)|same\shere|me\stoo|likewise|"
    r"my\spleasure|anytime|any\stime|you\sbet|deal|hope\sso|i\shope\sso|me\sneither|"
    r"right\son|fair\senough|good\sfor\syou|so\strue|very\strue)\b\W*(?:[A-Z]\w+\W*)?$|"
    r"(?:i\s)?(?:can['’]?t|cannot|can\snot)\s(?:even\s)?wait\b|looking\sforward\sto\s(?:it|that|"
    r"seeing|hearing|trying)\b|"
    r"(?:i['’]?m|i\sam|we['’]re)\s(?:(?:so|really|very|super|always|truly|just|sure)\s)*(?:proud\sof|"
    r"(?:happy|glad|excited|thrilled|stoked|sorry|pumped|pleased|rooting)\s(?:for|to\s(?:hear|see|"
    r"know)|you|that\syou|about\sthat)|here\sfor|grateful\sfor\syou|impressed\sby\syou|"
    r"on\syour\sside|with\syou)\b|"
    r"(?:i['’]?ll|i\swill)\s(?:definitely\s|surely\s|certainly\s|totally\s|for\ssure\s)?(?:keep\s(?:you|that|"
    r"it|going|pushing)|let\syou\sknow|check\s(?:it|that|them)\sout|be\s(?:there|cheering|"
    r"rooting)|do\smy\sbest|try\s(?:it|that)|remember\sthat|think\sabout\s(?:it|that))\b|"
    r"i(?:['’]d|\swould)\s(?:really\s|totally\s|definitely\s)?(?:love|like|be\shappy)\sto\s"
    r"(?:see|hear|meet|try|join|know|check|help|read|watch|come|do)\s?(?:it|that|them|him|her|you|"
    r"some|more|about|those|one|there|your)\b|"
    r"(?:you|u)(?:['’](?:re|ve|ll|d)|\s(?:are|have|got|rock|can|deserve|should|must|look|seem|"
    r"always|really|inspire|did|were|know|sound|make|guys))\b|"
    r"(?:it|that|this|those|these|they)(?:['’](?:s|re)|\s(?:is|are|was|were|must\s(?:be|have\sbeen)|"
    r"sounds?|looks?|seems?|feels?))\s(?:(?:so|really|very|such|a|an|just|pretty|quite|too|absolutely|"
    r"truly|all|super|always|totally|great|good|an?)\s){0,3}(?:awesome|amazing|great|good|nice|cool|"
    r"lovely|wonderful|beautiful|fantastic|incredible|impressive|inspiring|exciting|fun|sweet|cute|"
    r"true|right|tough|hard|sad|awful|terrible|important|interesting|perfect|fine|neat|rad|lit|"
    r"gorgeous|adorable|delicious|yummy|relaxing|stunning|special|rewarding|what|how|why|idea|"
    r"attitude|spirit|worth|crazy|wild|rough|okay|ok)\b|"
    r"(?:that|it)\s(?:makes|means)\s(?:sense|a\slot|so\smuch|me)\b|(?:sounds|looks|seems)\s|"
    r"(?:what|such)\san?\s|how\s(?:cool|nice|lovely|sweet|exciting|wonderful|awesome)|"
    r"i\s(?:totally\s|completely\s|really\s|so\s|do\s)?(?:agree|hear\syou|understand|get\s(?:it|that|you)|"
    r"feel\syou|bet|believe\sin\syou|admire\syou|appreciate|love\s(?:it|that|your|how\syou|to\shear|hearing)|know\s(?:it|you|what|"
    r"how|that|right)|hope\s(?:so|you|it|that|to\shear)|wish\syou|knew\s(?:it|you)|"
    r"couldn['’]t\sagree)\b|"
    r"(?:i\s)?(?:\w+\s)?agree\b|way\sto\s|loving\s(?:your|it|that)\b|keep\s\w+ing\b|"
    r"let['’]s\s(?:keep|make\s(?:it|this)|do\s(?:it|this)|create|get\s(?:to|this))\b|"
    r"(?:felt|feels)\s(?:so|really|great|good|amazing)\b|"
    r"keep\s(?:it|up|going|me|on|pushing|at|doing|your|that)\b|let\sme\sknow\b|"
    r"(?:so\s)?(?:glad|happy|proud|sorry|excited|thrilled)\s(?:for|to\s(?:hear|see|know|help|be\sof)|you|"
    r"that|it|of\syou|about\s(?:it|that|your))\b|(?:sorry|wishing|sending|rooting|enjoy|stay\s\w+|"
    r"go\sfor\sit|hope\s(?:you|it|that|so|to\s(?:hear|see))|"
    r"(?:great|nice|good|awesome|amazing|cool|beautiful|fantastic|wonderful|lovely|excellent)\s"
    r"(?:idea|job|work|point|stuff|choice|question|one|to\s(?:hear|see|know)|of\syou|way|attitude|"
    r"pic\w*|photo\w*|shot|memor\w+|news|advice|plan|effort|catching|talking|chatting|chat))\b|"
    r"(?:your|our)\s(?:support|passion|words|hard\swork|dedication|friendship|encouragement|"
    r"enthusiasm|positivity|determination|help)\b|never\sgive\sup|believe\sin\b|"
    r"(?:means|meant)\s(?:a\slot|the\sworld|so\smuch)|it(?:['’]s|\swas)\s(?:been\s)?"
    r"(?:great|nice|good|lovely|wonderful)\s(?:talking|chatting|catching|seeing|hearing))",
    re.IGNORECASE,
)
_SYMBOLS = re.compile(r"<3+|[:;=]-?[)(DPp]+(?=\s|$)|[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f]+")
_TANGIBLE = re.compile(
    r"\b(?:my|our|his|her|their)\s(?!(?:back|side|mind|way|heart|day|support|words|help|advice|"
    r"best|pleasure|goal|goals|dreams?|journey|friend|thoughts|eyes?|face|soul|passion)\b)[a-z]{3,}"
    r"|\b(?:i|we)(?:['’]ve|\shave)?\s(?:just\s|recently\s|also\s|finally\s|actually\s)?(?:got|bought|"
    r"started|went|made|took|moved|joined|found|lost|won|visited|adopted|painted|read|wrote|saw|"
    r"met|finished|signed|tried|learned|volunteered|ran|hiked|cooked|baked|built|planted)\b",
    re.IGNORECASE,
)
_CLOSED = KIN | PETS | PEOPLE_NOUNS - word_set("friend friends head lead contact")


def without_symbols(*, text: str) -> str:
    """The text without hearts, smileys and emoji, which carry no information."""
    return " ".join(_SYMBOLS.sub(" ", text).split())


def is_reaction(*, text: str, known: frozenset[str]) -> bool:
    """Whether a sentence only reacts to what the other person said.

    One that also names a date, a number, a relative, a possession or a name outside `known` tells
    something and is no mere reaction.
    """
    match = _REACTION.match(text)
    return match is not None and not is_concrete(text=f"so {text[match.end() :]}", known=known)


def is_concrete(*, text: str, known: frozenset[str]) -> bool:
    """Whether a sentence names something: a date, a number, a person, a place, a possession."""
    words = words_of(text)
    if any(word[0].isdigit() or word in _CLOSED for word in words):
        return True
    if DATE_EXPRESSION.search(text) or _TANGIBLE.search(text) or specific_words(text) > 3:
        return True
    first_names = {name.split()[0] for name in known if name}
    return any(
        name not in known
        and not {name.split()[0], name.split()[-1]} & first_names
        and not _nick(name, first_names)
        for name in names_in(text)
    )


def _nick(name: str, first_names: set[str]) -> bool:
    """Whether a name is short for one of the speakers'."""
    return len(name) > 2 and any(first.startswith(name[:3]) for first in first_names)
