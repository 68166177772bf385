"""Small words and turns of phrase that tell how a clause is meant."""

from __future__ import annotations

import re
from functools import lru_cache

_SIGNS = {
    "hedge": r"maybe|perhaps|probably|possibly|presumably|hopefully|apparently|supposedly|"
    r"i\s(?:guess|think|suppose|suspect|bet|hope|assume|reckon|doubt|imagine|wonder)|not\ssure|"
    r"kind\sof|sort\sof|might|as\sfar\sas|seems?|looks\slike|likely",
    "would": r"would|could|should|['’]d\s(?!been|had|better)\w+|may\s(?!\d)",
    "wish": r"wish|dream|one\sday|some\s?day|if\sonly|tempted|thinking\s(?:of|about)|considering|"
    r"toying|imagine|what\sif|in\stheory|ideally|idea",
    "if": r"if|unless|whether|in\scase",
    "when": r"when|whenever|every\stime|each\stime|once|as\ssoon\sas|before|after",
    "must": r"must|have\sto|has\sto|need\sto|needs\sto|ha(?:ve|s)\sgot\sto|required?|due|"
    r"deadline|"
    r"by\slaw|mandatory|allowed|forbidden|at\sthe\slatest|no\slater",
    "never": r"never|always|only|every|each|no\slonger|any\s?more|instead|from\snow\son|"
    r"without\sexception",
    "not": r"not|no|nobody|none|nothing|neither|\w+n['’]t|without",
    "since": r"since|until|till|for\s(?:\w+\s)?(?:years?|months|weeks|decades)|so\sfar|ever",
    "again": r"again|already|finally|at\slast|just|still|yet",
    "here": r"here|right\snow|just\snow|at\sthe\smoment|today|tonight|this\s(?:morning|"
    r"afternoon|evening)|"
    r"outside|in\sfront\sof|next\sto\sme",
    "so": r"so|such|really|very|totally|absolutely|literally|honestly|quite|pretty|rather|"
    r"far\stoo",
    "verdict": r"great|good|nice|lovely|awful|terrible|fun|funny|boring|weird|crazy|amazing|"
    r"awesome|perfect|"
    r"horrible|beautiful|gorgeous|ridiculous|annoying|mad|silly|brilliant|glorious|miserable|"
    r"heaven|hell|nightmare|disaster|joke|mess|relief|pain|bliss|miracle|shame|pity",
    "body": r"tired|hungry|sleepy|thirsty|cold|hot|wet|soaked|exhausted|bored|awake|headache|"
    r"feet|eyes|"
    r"stomach|fingers|back\shurts|coffee|tea|biscuits?|lunch|nap|shower|yawn\w*",
    "weather": r"rain\w*|snow\w*|sun|sunny|weather|wind|windy|storm|fog|foggy|drizzl\w+|hail|"
    r"clouds?|"
    r"freezing|heatwave|sky|traffic|train|bus|queue",
    "animal about": r"seagulls?|pigeons?|the\s(?:cat|dog)|crow|squirrel|spider|wasps?|flies|"
    r"mouse|fox",
    "like": r"like\s(?:a|an|the|some)|as\s\w+\sas|as\sif|as\sthough",
    "said": r"said|says|saying|told|claims?|claimed|according|quote|joked|jokes|swears|insists|"
    r"reckons|"
    r"thinks|believes|rumou?r|heard|apparently|keeps\s\w+ing",
    "you": r"you|your|yours|yourself",
    "for me": r"(?:for|to|with)\sme|(?:when|whenever|if)\syou\s\w+",
    "thanks": r"thanks|thank|cheers|bye|goodbye|sorry|welcome|congrat\w*|good\sluck|see\syou",
    "play": r"haha|lol|kidding|joking|joke|just\sfor\sfun|ugh|phew|wow|oh\swell|god|gosh|damn|"
    r"blimey|"
    r"swear|promise",
    "aside": r"by\sthe\sway|btw|anyway|incidentally|oh\sand|also|one\smore\sthing|"
    r"for\sthe\srecord",
    "news": r"new|changed?|moved|switched|now|from\s(?:now|next)|as\sof|starting|no\slonger|"
    r"instead|"
    r"replaced?|cancel\w*|postponed",
    "correct": r"actually|i\smean|rather|correction|wrong|mistake|misspoke|not\s\w+\sbut|sorry",
    "works": r"works?|worked|helped|helps|did\sthe\strick|does\sthe\strick|solved|fixed|fixes|"
    r"that\sdid\sit",
    "then": r"then|first|next|after\sthat|afterwards|finally|and\sonly\sthen|step|steps",
    "how": r"how|the\sway|trick|by\s\w+ing|method|procedure|recipe|process|routine",
    "from then": r"(?:as\sof|as\sfrom|from|starting|effective|beginning|"
    r"since)\s(?:on\s)?(?:the\s)?(?:now|then|today|tomorrow|"
    r"next|this|last|\d|mon|tues|wednes|thurs|fri|satur|sun|jan|feb|mar|apr|may|jun|jul|aug|"
    r"sep|oct|nov|dec)\w*",
    "until": r"until|till|through|by\sthe\send|at\sthe\slatest|no\slater",
    "outcome": r"(?:is|are|['’]s|['’]re|was|were|been|got)\s(?:now\s|already\s|finally\s|"
    r"all\s)?(?:gone|done|over|finished|dead|"
    r"broken|lost|sold|signed|closed|booked|fixed|ruined|delivered|approved|cancelled|refused|"
    r"accepted|ready)",
    "cannot": r"can['’]?t|cannot|couldn['’]t|not\sallowed|mustn['’]t|may\snot|off\slimits",
    "asks for": r"asked?\sfor|wants?|insists?|requests?|would\slike|prefers?|needs?",
    "myself": r"myself|i['’]m|i['’]ve\sbeen|my\s(?:own|knees?|back|heart|eyes?|doctor|shift|"
    r"job|husband|wife|partner)|i\s(?:live|work|teach|study|run)",
    "one day": r"on\s(?:mon|tues|wednes|thurs|fri|satur|sun)day|yesterday|tomorrow|"
    r"last\s(?:night|week|month|mon\w*|\w+day)|"
    r"next\s\w+|on\sthe\s\d+|ago",
    "because": r"because|since|so\sthat|that['’]s\swhy|reason|due\sto|thanks\sto",
    "called": r"called|named|known\sas|name\sis|nickname",
    "money": r"euros?|dollars?|pounds?|budget|costs?|price|fee|rent|paid|invoice",
    "unit": r"kg|km|cm|mm|grams?|litres?|hours?|minutes?|days?|weeks?|months?|years?|percent|"
    r"degrees?|"
    r"metres?|people|seats?|pages?|times",
    "place": r"office|room|floor|street|house|flat|school|shop|site|building|hall|garden|kitchen|"
    r"warehouse|workshop|station|clinic|hospital|studio|farm|barn|shed|cellar|attic",
    "tech": r"server|database|api|repo|branch|deploy\w*|version|port|cluster|staging|production|"
    r"pipeline|tests?|script|config|service|endpoint|token|cache|query|index|log|queue",
    "deal": r"contract|client|customer|supplier|order|deal|agreement|offer|quote|tender|"
    r"licence|license",
    "meeting": r"meeting|call|appointment|visit|interview|session|demo|review|workshop|exam|"
    r"concert|"
    r"wedding|party|flight|trip|show|rehearsal|match|lesson|class|course|surgery|check-?up",
    "habit": r"usually|often|most|on\s\w+days|weekly|daily|monthly|regularly|normally|every\s\w+",
    "health": r"allergic|allergy|diabet\w+|asthma|pregnan\w+|vegan|vegetarian|coeliac|insulin|"
    r"doctor|"
    r"surgery|knee|migraines?|medication|pills?|intoleran\w+|arthritis|deaf|blind",
    "age": r"years?\sold|turn(?:s|ed|ing)?\s\d+|born|birthday|\w+teen\s(?:now|in)",
    "quoted": r"[\"“”]",
    "shout": r"!",
    "trail": r"\.\.\.|…",
    "colon": r":\s",
    "dash": r"\s[–—-]\s",
    "brackets": r"\(",
    "semicolon": r";",
    "hashes": r"[_/=<>{}@#|]|\w\.\w",
    "percent": r"%|\bper\scent\b",
    "time of day": r"\d{1,2}:\d\d|\bat\s\d{1,2}\b|noon|midnight|o['’]clock|\d\s?(?:am|pm)\b",
    "range": r"\d\s?[-–]\s?\d",
}  # fmt: skip
_PLAIN = frozenset(
    {"quoted", "shout", "trail", "colon", "dash", "brackets", "semicolon", "hashes", "percent",
     "range", "time of day"}
)  # fmt: skip
_COMPILED = {
    name: re.compile(pattern if name in _PLAIN else rf"\b(?:{pattern})\b", re.IGNORECASE)
    for name, pattern in _SIGNS.items()
}


@lru_cache(maxsize=512)
def signs_of(*, text: str) -> tuple[str, ...]:
    """The names of the signs that a clause shows."""
    return tuple(name for name, pattern in _COMPILED.items() if pattern.search(text))
