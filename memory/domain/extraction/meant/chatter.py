"""Chatter about the day, the weather, the moment and each other."""

from __future__ import annotations

import re

from ..language.verbs import GERUNDS
from ..language.words import content_words, word_set

_SMALL_TALK = re.compile(
    r"\b(?:coffee\smachine|have\sa\s(?:good|nice|great|lovely)|talk\s(?:later|soon|to\syou)|"
    r"see\s(?:you|ya)|catch\syou|"
    r"bye|cheers|good\snight|off\sto\s(?:lunch|bed|a\smeeting|dinner|the\sgym|grab|get)|brb|"
    r"back\sin\sa\s(?:minute|bit|sec)|"
    r"(?:one|just\sa)\s(?:sec|moment|minute)|(?:just|only)\s(?:testing|joking|kidding)|"
    r"nothing\sreally|how\sare\syou|"
    r"you['’]re\s(?:the\sbest|great|welcome|a\slifesaver|a\sstar|funny)|made\smy\sday|thank\sgod|"
    r"what\sa\s(?:day|week)|"
    r"(?:long|crazy|busy)\s(?:day|week)|no\s(?:worries|problem|rush)|take\syour\stime|never\smind|"
    r"mondays,\s|grey\sout|"
    r"so\s(?:hot|cold|warm|tired|hungry)\b|cake\sin\sthe|friday\sfeeling|tell\sme\sa\sjoke|"
    r"owe\s(?:you|(?-i:[A-Z])\w+|him|her|them)\s(?:a|an|one)\b|you\s(?:really\s)?deserve\b|"
    r"(?:just|only|simply)\s(?:seeing|checking|testing|trying|making\ssure|wondering)\s(?:whether|"
    r"if|that|out|how|my|your)|worth\sa\s(?:try|shot|go))",
    re.IGNORECASE,
)
# How things are with the speaker at this very moment, and what nobody needs to know tomorrow.
_MOMENT = re.compile(
    r"^(?:(?:and|but|so|oh|well|right|anyway|sorry|ugh|phew|ok)[\s,]+){0,3}(?:"
    r"(?:i['’]m|i\sam|we['’]re|im)\s(?:(?:so|just|really|a\sbit|pretty|totally|completely|rather|still|"
    r"now|already|finally|kind\sof|absolutely)\s){0,2}(?:done\swith|fed\sup|back\W*$|here\W*$|off\W*$|"
    r"off\sto|on\smy\sway|in\sa\s(?:meeting|rush|hurry)|running\slate|stuck\sin|soaked|covered\sin|"
    r"sweating|bored|shattered|knackered|hungover|typing|about\sto\s(?:leave|go|board|eat)|"
    r"dying\sfor|craving|out\sof\sbreath|all\sears)"
    r"|(?:bored|tired|stuck|hungry|sleepy|late)\s(?:on|in|at|and|as)\b"
    r"|(?:my|the)\s(?:phone|laptop)?\s?(?:battery|tea|coffee|stomach|feet|eyes|fingers|brain|stop|"
    r"head|kettle|doorbell|phone|connection|wi-?fi)\s(?:is|are|has|just|hurts?|aches?)\b"
    r"|(?:a\s(?:very\s)?)?happy\s(?:new\syear|birthday|easter|friday|monday|holidays|anniversary)\b|"
    r"merry\s\w+|long\stime\sno|hope\s(?:you|all|your|this)\b|nice\sone\b|what\san?\s(?!time)"
    r"|(?:time\sfor|could\sdo\swith|need)\san?\s(?:\w+\s)?(?:biscuit|break|nap|drink|coffee|tea|beer|"
    r"shower|snack|hug|lie-down|holiday)"
    r"|(?:i\s)?had\s(?:a|the)\s(?:\w+\s)?(?:dream|nightmare|laugh|nap|giggle)\b"
    r"|i\s(?:badly\s|really\s|so\s)?need\s(?:a|an|some)\s(?:\w+\s)?(?:shower|coffee|nap|break|drink|"
    r"sleep|hug|minute|holiday|breather)\b|i\sshould\s(?:get|go|eat|sleep|sign\soff|head|run|be\sgoing)\b"
    r"|i['’]ll\s(?:get\sback\sto\syou|be\s(?:back|right\sback)|let\syou\sgo|stop\shere|leave\sit\sthere)|"
    r"i\sswear\b|(?:god|man|boy)\sno\b|the\sshow\s(?:must\s)?goes?\son|"
    r"why\s(?:can|do|does|is|are|on\searth|must|would)\b)"
    r"|\bi\sneed\sto\s(?:run|go|dash|leave|eat|sleep|pee|hurry)\b(?=\W|$)(?!\s\w+\s(?:by|before|on)\b)|"
    r"\bin\s(?:two|five|ten|\d+)\sminutes\b|\b(?:stuck|going\sround)\sin\smy\shead\b|"
    r"\b(?:my|the)\s(?:eyes|back|head|feet|neck|hands?)\s(?:hurts?|is\skilling|are\skilling|aches?)\s?(?:me\s)?from\b|\bis\skilling\sme\b|"
    r"^(?:whoa|gosh|ugh|phew|wow|yikes)\b|\b(?:bear|be\spatient)\swith\sme\b|\bi\sask\syou\W*$|"
    r"\b(?:brief|good|bad|great|foul)\smood\b"
    r"|\bbadly\sneed\sa\s|\bmade\sme\s(?:smile|laugh|cry|grin|chuckle)\b|\b(?:hold|hang)\son\b"
    r"|\bthis\s(?:train|bus|tram|queue|cafe|café|plane|weather|morning\sis|heat|rain|song|chair|room)\b"
    r"|\b(?:can|could)\s(?:hardly|barely)\s(?:think|see|hear|move|breathe|type)\b|"
    r"\benough\sfor\s(?:today|now)\b|^i\s(?:really\s|so\s|just\s)?(?:hate|love|adore)\sthis\s\w+[.!]*$",
    re.IGNORECASE,
)
_THANKS = re.compile(r"(?:many\s)?(?:thanks|thank\syou|cheers|congrat\w*)\b", re.IGNORECASE)
_CHATTER = re.compile(
    r"\b(?:weather|rain(?:ing|s|y)?|sunny|snow(?:ing|y)?|drizzl\w+|freezing|heatwave|sunshine|"
    r"coffees?|cuppa|espresso|"
    r"lunch|breakfast|traffic|sleepy|hungry|starving|(?:i['’]m|so|pretty|really)\s(?:tired|exhausted|"
    r"sleepy)|yawn\w*|noisy|neighbou?r['’]s\sdog|croissants?|donuts?|"
    r"doughnuts?|biscuits?|sandwich|monday\smornings?|mondays|my\sback\shurts|the\ssun|pouring|"
    r"windy|stormy|foggy|"
    r"i['’]m\swaiting\sfor|fire\salarm|match\slast\snight|looking\sforward\sto|"
    r"excited\s(?:about|for)|can(?:['’]t|not)\swait)\b",
    re.IGNORECASE,
)
_SUBSTANCE = re.compile(
    r"\d|^(?:if|when|whenever)\sit\s\w+,\s|\b(?:since|for\syears|half\spast|noon|for\severyone|no\ssugar|black|costs?|allowed|closed|always|never|prefer|hate|love|every|allergic|must|have\sto|has\sto|only|"
    r"don['’]t\s(?:drink|eat)|until|by|deadline|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|work\sfrom|decided|agreed)\b",
    re.IGNORECASE,
)
# What goes on beyond the moment, whatever the words around it.
_STANDS = re.compile(
    r"\b(?:always|never|every|since|until|till|allergic|usually|deadline|by\s(?:\w+day|noon))\b|"
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b(?!\s(?:again|already))|\d{3,}",
    re.IGNORECASE,
)
_EPHEMERAL_ING = word_set(
    """
    wait look check test joke kid wonder try sit head run think listen type read guess dream
    stall procrastinate ramble vent brew stare scroll eat drink just ask say talk get
    """
)
# What somebody looks at or thinks of becomes a fact with a name or a figure in it.
_PRECISE = re.compile(r"\d|\s(?:at|in|for|about|of)\s(?:an?\s|the\s)?(?:[a-z]+\s)*(?-i:[A-Z])\w+")
_AIM = re.compile(
    r"^\S+\s(?:\w+\s)?trying\s(?:not\s)?to\s(?!(?:find|get|see|figure|understand|remember|decide|"
    r"think|work\sout|reach|log|open|connect|call)\b)",
    re.IGNORECASE,
)
_PROGRESSIVE = re.compile(
    r"^(?:i['’]m|i\sam|we['’]re|we\sare|just|still)\s(?:(?:just|only|still|currently|also)\s)?"
    r"(\w+ing)\b",
    re.IGNORECASE,
)


def is_small_talk(*, text: str) -> bool:
    """Whether a sentence is chatter about the day, the weather or the moment."""
    progressive = _PROGRESSIVE.match(text)
    if progressive:
        base = GERUNDS.get(progressive.group(1).lower(), "")
        if base in _EPHEMERAL_ING and not _AIM.match(text) and not _PRECISE.search(text):
            return True
    if not content_words(text) or (_THANKS.match(text) and not _SUBSTANCE.search(text)):
        return True
    if _MOMENT.search(text) and not _STANDS.search(text):
        return True
    if _SMALL_TALK.search(text) and not re.search(r"\b[a-z]+-\d|\d{3,}", text):
        return True
    chatter = any(
        not match.start() or match.group()[:1].islower() for match in _CHATTER.finditer(text)
    )
    return chatter and not _SUBSTANCE.search(text)
