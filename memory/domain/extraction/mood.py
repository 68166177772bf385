"""Whether a sentence is meant: suppositions, guesses, quotes of others and small talk are not."""

from __future__ import annotations

import re

from .verbs import GERUNDS
from .words import content_words, word_set

_UNREAL = re.compile(
    r"\b(?:would|could|might|wouldn['’]t|couldn['’]t)\b(?!\s(?:you|like|love|prefer|rather|"
    r"be\sgreat))"
    r"|\b(?:i|we|you|he|she|it|they)['’]d\s(?!better|been|had|already|never|gone|done|made|told|"
    r"like|love|prefer|rather)\w+|\bmay\s(?:be|have|need|want|well|also|become|even|get|switch|"
    r"move|"
    r"change|still)\b"
    r"|\b(?:maybe|perhaps|possibly|what\sif|imagine|suppose|supposing|hypothetically|in\stheory|"
    r"theoretically|i\swish|if\sonly|one\sday|someday|some\sday|dreaming|daydreaming|pure\s"
    r"speculation|speculating|just\s(?:an?\s)?(?:idea|thought)|thinking\sout\sloud|toying|"
    r"playing\swith\sthe\s(?:idea|thought)|tempted|what\sabout|how\sabout|assuming|unless\swe|"
    r"unless\si|unless\sthey|brainstorm\w*|daydream\w*)\b",
    re.IGNORECASE,
)
# "I'd love to walk it but my feet won't allow it": a wish that stays one.
_VAIN_WISH = re.compile(
    r"\b(?:would|['’]d)\s(?:really\s|so\s)?(?:love|like|prefer|want)\b.{3,90}[\s,]but\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"^(?:and\s|but\s|so\s|even\s|only\s)?if\b|,?\sif\s", re.IGNORECASE)
_UNREAL_CONDITION = re.compile(
    r"\bif\s(?:i|we|you|he|she|it|they|the\s\w+|[A-Z]\w+)\s(?:ever\s|only\s)?(?:had|were|was|could|"
    r"did|got|went|won|turns?\sout|ends?\sup|happens?\sto)\b|\b(?:will|['’]ll|won['’]t|"
    r"going\sto)\b",
    re.IGNORECASE,
)
_REAL_NEGATION = re.compile(
    r"\b(?:no|not|only|never|nobody|none|nothing)\b.{0,60}\bmay\b|\bmay\s(?:not|only|never)\b",
    re.IGNORECASE,
)
_GUESS = re.compile(
    r"\b(?:i\s(?:(?:kind\sof|sort\sof|really|do|just|strongly|half|would|rather)\s)?(?:guess|"
    r"suppose|"
    r"suspect|bet|assume|doubt|reckon|hope|fear|imagine|gather|expect\sthat|wonder|feel\slike|"
    r"have\sa\sfeeling|have\sa\shunch)|i['’]d\s(?:guess|say|bet|assume|suspect)|my\s(?:gut|guess|"
    r"hunch|bet|hope|theory|money['’]s|feeling)|gut\sfeeling|who\sknows|at\sa\sguess|presumably|"
    r"probably|most\slikely|hopefully|fingers\scrossed|apparently|supposedly|rumou?r\w*|"
    r"word\shas\sit|can['’]t\sbe\ssure|i['’]m\snot\s(?:entirely\s|quite\s|really\s|so\s|at\sall\s)?"
    r"(?:sure|certain)|not\ssure|no\sclue|i\sbelieve\s(?!in\b)|it\sseems|seems\slike|looks\slike|"
    r"i['’]m\safraid\sit|(?:i\s)?wouldn['’]t\sbe\ssurprised|it\s(?:must|should)\sbe\sthe|"
    r"for\sall\s(?:i|we)\sknow)\b",
    re.IGNORECASE,
)
_THINK = re.compile(
    r"\bi\s(?:(?:kind\sof|sort\sof|really|do|still)\s)?think\s(?:that\s)?"
    r"(?:i['’]m|i['’]ll|i\swill|we['’]ll|we\s(?:should|will|can|need)|it['’]ll|they['’]ll|"
    r"(?:\w+\s){1,5}(?:will|might|could|should|may|is\sgoing|are\sgoing))\b|\bi\sthink\W*$|"
    r"\bi\sthink\s(?:it|they|he|she|that)\b",
    re.IGNORECASE,
)
_OPINION_OF_OTHERS = re.compile(
    r"\b(?!(?:i|we|and|any|all|of|such|no)\b)[\w’']+\s(?:(?:always|still|once|just|often|also|"
    r"even)\s)?(?:keeps?\s(?:on\s)?"
    r"(?:saying|quoting|telling|claiming|repeating|insisting|asking|complaining)|quot(?:es|"
    r"ed)(?!\s(?:me\s|us\s)?[\d$€£])|"
    r"claims(?:\sthat)?|claimed|thinks|believes|argues|argued|swears|swore|joked|jokes|reckons|"
    r"insists?\sthat|(?:likes|loves)\sto\ssay|"
    r"was\slike|goes\son\sabout|predicts?|predicted|suggests?\sthat|suspects?|guess(?:es|ed)|"
    r"mutter(?:s|ed)|rant(?:s|ed)|complain(?:s|ed)\sthat|brag(?:s|ged)|tweeted|"
    r"call(?:s|ed)\s(?:it|us|them|that|this)|described?\s(?:it|us)\sas)\b",
    re.IGNORECASE,
)
_SAID_QUOTE = re.compile(
    r"\b(?:said|says|say|told|wrote|writes|tweeted|posted|reads?|headline|slogan|motto|proverb|"
    r"saying|article|blog|quote|title|line|lyrics?|according\sto|"
    r"per)\b[^\"“]{0,60}[\"“][^\"”]{6,}[\"”]"
    r"|[\"“][^\"”]{6,}[\"”],?\s(?:said|says|wrote|is\swhat|as\s\w+\s(?:says|said|puts)|he\s|she\s"
    r"|they\s)|^[\"“][^\"”]*[\"”]?\.?$|\bas\sthe\s(?:saying|joke|song)\sgoes\b",
    re.IGNORECASE,
)
# Another's words as they were spoken: "Tom wrote: I prefer tabs", "she goes 'we ship on Friday'".
_DIRECT_SPEECH = re.compile(
    r"^(?!(?:i|we)\b)[^:'‘]{1,60}\b(?:said|says|wrote|writes|goes|replied|replies|answered|texted|"
    r"shouted|states|commented)(?:\s(?:to\s)?(?:me|us|him|her|them))?"
    r"(?:[:,]?\s['‘](?=\w)[^'’]{6,}['’]|:\s(?-i:I|My)\b)",
    re.IGNORECASE,
)
_SAID_OPINION = re.compile(
    r"\b(?:someone|somebody|people|everyone|everybody|they|folks|some)\s(?:said|says?|told\s\w+|"
    r"keep\ssaying|think|believe|claim)\b|"
    r"\b(?!(?:i|we)\b)[\w’']+\s(?:says?|said|told\s\w+|mentioned|warned|mumbled)\s(?:that\s)?"
    r"(?:[\w’'-]+\s){0,6}(?:is|are|was|were|will|would|should|could|might|looks?|sounds?|feels?|"
    r"['’]s|isn['’]t|aren['’]t)\s(?:\w+\s){0,3}(?:dead|overrated|terrible|awful|great|amazing|ugly|"
    r"useless|best|worst|better|worse|fine|boring|stupid|pointless|future|waste|fail|crash|doomed|"
    r"overkill|cursed|hopeless|easy|trivial|impossible|crazy|nonsense|mistake|lazy|evil|beautiful|"
    r"dying|finished|magic|obsolete|genius|silly|ridiculous)\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"^(?:my|our|the|a|his|her|some)\s(?:[\w-]+\s){1,2}(?:always\s)?(?:says|said)\s", re.IGNORECASE
)
_MATTER_OF_FACT = re.compile(
    r"\d|\bI\b|\b(?:must|ha(?:s|ve)\sto|needs?|should|deadline|may\snot|cannot|can['’]t|only)\b|"
    r"(?i:\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)"
)
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
    r"\d|\b(?:always|never|prefer|hate|love|every|allergic|must|have\sto|has\sto|only|"
    r"don['’]t\s(?:drink|eat)|until|by|deadline|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|work\sfrom|decided|agreed)\b",
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


def is_hypothetical(*, text: str) -> bool:
    """Whether a sentence supposes something instead of saying that it is so."""
    if _REAL_NEGATION.search(text):
        return False
    if _UNREAL.search(text) or _VAIN_WISH.search(text):
        return True
    return bool(_CONDITION.search(text) and _UNREAL_CONDITION.search(text))


def is_guess(*, text: str) -> bool:
    """Whether the speaker only guesses, hopes or plans aloud."""
    return bool(_GUESS.search(text) or _THINK.search(text))


def is_quote(*, text: str) -> bool:
    """Whether a sentence passes on what others say or believe."""
    quoting = (_SAID_QUOTE, _DIRECT_SPEECH, _OPINION_OF_OTHERS, _SAID_OPINION)
    if any(pattern.search(text) for pattern in quoting):
        return True
    return bool(_REPORTED.match(text)) and not _MATTER_OF_FACT.search(text)


def is_small_talk(*, text: str) -> bool:
    """Whether a sentence is chatter about the day, the weather or the moment."""
    progressive = _PROGRESSIVE.match(text)
    if progressive:
        base = GERUNDS.get(progressive.group(1).lower(), "")
        if base in _EPHEMERAL_ING and not _AIM.match(text) and not _PRECISE.search(text):
            return True
    if not content_words(text) or (_THANKS.match(text) and not _SUBSTANCE.search(text)):
        return True
    if _SMALL_TALK.search(text) and not re.search(r"\b[a-z]+-\d|\d{3,}", text):
        return True
    chatter = any(
        not match.start() or match.group()[:1].islower() for match in _CHATTER.finditer(text)
    )
    return chatter and not _SUBSTANCE.search(text)
