"""Whether a sentence is meant: what is supposed, weighed, wished for or guessed is not."""

from __future__ import annotations

import re

from ..language.tense import is_past

_UNREAL = re.compile(
    r"(?<!nobody\s)(?<!no\sone\s)(?<!none\s)\b(?:would|could(?!\snot\b)|might|wouldn['’]t|couldn['’]t(?=.*\bif\b|\s(?:be|care|agree)\b))\b(?!\s(?:you|like|love|prefer|rather|sooner|"
    r"be\sgreat))"
    r"|\b(?:i|we|you|he|she|it|they)['’]d\s(?!better|been|had|already|never|gone|done|made|told|"
    r"like|love|prefer|rather|sooner)\w+|\bmay\s(?:be|have|need|want|well|also|become|even|get|switch|"
    r"move|or\smay\snot|"
    r"change|still)\b"
    r"|\b(?:maybe|perhaps|possibly|what\sif|imagine|suppose|supposing|hypothetically|in\stheory|"
    r"theoretically|i\swish|if\sonly|one\sday(?!\s(?:longer|more|less|off|a\b|per|before|after|later|earlier|each|every))|someday|some\sday|at\ssome\spoint|dreaming|"
    r"daydreaming|pure\s"
    r"speculation|speculating|just\s(?:an?\s)?(?:idea|thought)|thinking\sout\sloud|toying|"
    r"playing\swith\sthe\s(?:idea|thought)|tempted|what\sabout|how\sabout|assuming|unless\swe|"
    r"unless\si|unless\sthey|brainstorm\w*|daydream\w*|in\san\sideal\sworld|part\sof\sme|"
    r"talk\sof|idea\sfloating|chance\sthat|of\stwo\sminds|not\ssaying|dream\sscenario|plan\sb|once\si['’]m\s(?:rich|old|retired)|"
    r"a\sbig\sif|(?:almost|nearly)\s(?:bought|went|took|quit|signed|said|did|got|became|chose|moved|sold|gave|\w+ed\b)|"
    r"(?:i|we)\swas\sgoing\sto|(?:i|we)\swere\sgoing\sto|(?:i\s)?sometimes\sthink|among\sother\splaces|nobody\sknows\syet|"
    r"talked\sabout\s\w+ing|keep\ssaying|keeps?\s(?:pushing|asking)\sfor|we['’]ll\ssee|if\sall\sgoes\swell)\b",
    re.IGNORECASE,
)
# "I was thinking of painting it", "we're weighing Oslo against Bergen": nothing is settled.
_UNSETTLED = re.compile(
    r"\b(?:i['’]m|i\sam|we['’]re|we\sare|i\swas|we\swere|i['’]ve\sbeen|we['’]ve\sbeen|"
    r"i\skeep|we\skeep|^)\s?(?:(?:just|still|also|only|even|actually|really)\s)?"
    r"(?:thinking\s(?:of|about)(?![^,.]{0,30}:)|pondering|mulling|musing|contemplating|weighing|debating|"
    r"wondering|fantasi[sz]ing|considering|torn\b)"
    r"|\b(?:can['’]t|cannot|can\snot|haven['’]t|have\snot|not|never)\s(?:yet\s|really\s|quite\s)?"
    r"(?:decided?|made\sup\s(?:my|our)\smind|settled\son)\b|\bundecided\b|\bon\sthe\sfence\b"
    r"|\b(?:i|we)\sshould\s(?:really|probably|maybe|perhaps|just)\b|^let['’]s\s(?:pretend|imagine|"
    r"assume|say|suppose)\b|^say\s(?:i|we|you|he|she|they|the|that)\b",
    re.IGNORECASE,
)
# What was dreamed, or thought of and let be.
_NOT_DONE = re.compile(
    r"\b(?:i|we)\s(?:(?:just|once|even|also|often|always|keep|kept)\s)?(?:(?:had|have|['’]d)\s)?"
    r"(?:dream(?:ed|t|ing)\s(?!of\b)|(?:had|have)\s(?:an?|the|this)\s(?:[\w-]+\s){0,2}(?:dream|nightmare)s?\b(?!\s(?:job|house|home|team|trip))"
    r"|(?:briefly\s|once\s|also\s|seriously\s|already\s)?(?:thought\s(?:about|of)|considered|contemplated|toyed\swith)\s(?:the\sidea\sof\s)?"
    r"(?!anything|something|nothing|everything)\w+ing\b(?!.*\b(?:chose|chosen|picked|went\swith|opted|settled\son|kept|stuck\swith|took)\b))"
    r"|\bin\s(?:my|a|the|this|that)\s(?:dream|nightmare)\b",
    re.IGNORECASE,
)
# "I'd love to walk it but my feet won't allow it": a wish that stays one.
_VAIN_WISH = re.compile(
    r"\b(?:would|['’]d)\s(?:really\s|so\s)?(?:love|like|prefer|want)\b.{3,90}[\s,]but\b",
    re.IGNORECASE,
)
# "For example, I live in Paris": made up to show something.
_EXAMPLE = re.compile(
    r"(?:so\s|and\s|like,?\s)?(?:for\s(?:example|instance)|e\.g\.|let['’]s\ssay|take)[,:]?\s(?:that\s)?"
    r"(?:i|we|you|my|our|your|he|she|they)(?:['’]\w+)?\s",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"^(?:and\s|but\s|so\s|even\s|only\s)?if\b|,?\sif\s", re.IGNORECASE)
_UNREAL_CONDITION = re.compile(
    r"\bif\s(?:i|we|you|he|she|it|they|the\s\w+|[A-Z]\w+)\s(?:ever\s|only\s)?(?:had|were|was|could|"
    r"did|got|went|won|turns?\sout|ends?\sup|happens?\sto)\b|\b(?:will|['’]ll|won['’]t|"
    r"going\sto)\b|^if\s(?:i|we)\s.*\b(?:i['’]m|i\sam|we['’]re|we\sare)\s\w+ing\b",
    re.IGNORECASE,
)
_REAL_NEGATION = re.compile(
    r"\b(?:no|not|only|never|nobody|none|nothing)\b.{0,60}\bmay\b|\bmay\s(?:not|only|never)\b"
    r"(?!.*\bmay\sor\b)",
    re.IGNORECASE,
)
_GUESS = re.compile(
    r",\si\s(?:think|guess|believe|suppose|reckon)(?=[,.])|\blet['’]s\shope\b|\b(?:i\s(?:(?:kind\sof|sort\sof|really|do|just|strongly|half|would|rather)\s)?(?:guess|"
    r"suppose|"
    r"suspect|bet|assume|doubt|reckon|hope|fear|imagine|gather|expect\sthat|wonder|feel\slike|"
    r"have\sa\sfeeling|have\sa\shunch)|i['’]d\s(?:guess|say|bet|assume|suspect|imagine)|my\s(?:gut|"
    r"guess|"
    r"hunch|bet|hope|theory|money['’]s|feeling)|gut\sfeeling|who\sknows|at\sa\sguess|presumably|"
    r"probably|most\slikely|hopefully|fingers\scrossed|apparently|supposedly|allegedly|reportedly|"
    r"rumou?r\w*|knowing\s(?-i:[A-Z])\w+,|chances\sare|(?:the\s)?odds\sare|in\sall\slikelihood|"
    r"something\stells\sme|(?:pretty|fairly|quite|almost|nearly|reasonably)\s(?:sure|certain)|by\sthe\slooks?\sof\sit|"
    r"sounds\s(?:to\sme\s)?(?:like|as)|looks\sas\s(?:if|though)|per\scent\ssure|%\ssure|(?:is|are|['’]s|['’]re|was|were)\slikely|"
    r"must\shave\s(?:(?:all|just|already|simply)\s)?(?:been|got(?:ten)?|had|gone|done|come|left|taken|made|\w+ed|\w+en)\b|(?:he|she|they|it|that|this)\s(?:must|can['’]t|cannot)\sbe\s(?!\w+(?:ed|en)\b)|i['’]d\sput\smoney|"
    r"(?:at\sleast\sit|so\sit)\sseems|i\simagine|i\sassume|don['’]t\sknow\swhy|"
    r"word\s(?:has\sit|is)|can['’]t\sbe\ssure|i['’]m\snot\s(?:entirely\s|quite\s|really\s|so\s|"
    r"at\sall\s)?"
    r"(?:sure|certain)|not\ssure|no\sclue|i\sbelieve\s(?!in\b)|it\sseems|seems\s(?:like|to\s(?:me|"
    r"us|be)|that)|looks\slike|(?:it\s)?feels\slike|as\sfar\sas\s(?:i|we)\s(?:can\stell|know|"
    r"remember|see)|if\s(?:i|memory)\s?(?:remember|recall|serves|am\snot\smistaken|['’]m\snot)\b|"
    r"don['’]t\squote\sme|"
    r"i['’]m\safraid\s(?:that\s)?(?:it|(?:they|he|she|we|you|[\w’'-]+\s[\w’'-]+)(?:['’]ll|\swill|\smight|\smay))|(?:i\s)?wouldn['’]t\sbe\ssurprised|it\s(?:must|should)\sbe\sthe|"
    r"for\sall\s(?:i|we)\sknow)\b",
    re.IGNORECASE,
)
_THINK = re.compile(
    r"\bi\s(?:(?:kind\sof|sort\sof|really|do|still)\s)?think\s(?:that\s)?"
    r"(?:i['’]m|i['’]ll|i\swill|we['’]ll|we\s(?:should|will|can|need)|it['’]ll|they['’]ll|"
    r"(?:\w+\s){1,5}(?:will|might|could|should|may|is\sgoing|are\sgoing))\b|\bi\sthink(?:\s(?:so|not|the\ssame))?(?:,?\s(?:too|as\swell|also|either))?\W*$|"
    r"\bi\sthink\s(?:it|they|he|she|that)\b",
    re.IGNORECASE,
)
_BELIEF = re.compile(r"^(?:and\s|but\s|so\s)?i\sthink\s(?P<what>.+)", re.IGNORECASE)
# An opinion is the speaker's own to have; whether the museum is open is not.
_OPINION = re.compile(
    r"\b(?:too|best|better|worst|worse|nicer|prettier|ugly|beautiful|boring|overrated|underrated|"
    r"great|good|bad|awful|lovely|important|clearer|cleaner|simpler|easier|most|least|\w+er\sthan|"
    r"prefer|favou?rite|worth|pointless|silly|fun)\b",
    re.IGNORECASE,
)


def is_hypothetical(*, text: str) -> bool:
    """Whether a sentence supposes, weighs or wishes for something instead of saying that it is."""
    if _REAL_NEGATION.search(text):
        return False
    if _EXAMPLE.match(text) and not is_past(text=text):
        return True
    if _UNREAL.search(text) or _VAIN_WISH.search(text) or _UNSETTLED.search(text):
        return True
    if _NOT_DONE.search(text):
        return True
    return bool(_CONDITION.search(text) and _UNREAL_CONDITION.search(text))


def is_guess(*, text: str) -> bool:
    """Whether the speaker only guesses, hopes or plans aloud."""
    believed = _BELIEF.match(text)
    if believed and not _OPINION.search(believed.group("what")):
        return True
    return bool(_GUESS.search(text) or _THINK.search(text))
