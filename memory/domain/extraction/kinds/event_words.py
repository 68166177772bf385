"""The words by which a clause shows what it is: a decision, a deadline, an event, a failure."""

from __future__ import annotations

import re

DECISION = re.compile(
    r"\b(?:we|i|they|the\s(?:team|board|committee|client|group)|everyone|management)(?:['’]ve|"
    r"\shave|\shas)?\s(?:also\s|just\s|finally\s|now\s|all\s|"
    r"both\s|already\s|then\s|therefore\s)?(?:decided|agreed|chose|chosen|settled|opted|picked|"
    r"voted|committed|"
    r"resolved\sto|approved|signed\soff)\b|\blet['’]s\s(?!start\s(?:over|again|fresh|now)\b|keep\sgoing|move\son\b|go\W*$|do\s(?:it|this|that)\W*$)(?:go|use|stick|do|keep|switch|drop|move|"
    r"take|make|"
    r"postpone|call|stay|start|hold|settle|pick|choose|adopt|skip|cut|not)\b|"
    r"\blet['’]s\s(?!see|look|check|try|talk|discuss|wait|begin|get|find|think|chat|say|hope|continue|"
    r"go|catch|set\sup|review|revisit|focus|be|see|finish|do|test|debug|add|leave|plan|figure|brainstorm|"
    r"assume|imagine|pretend|hear|meet)"
    r"[a-z]+\s(?:the|our|all|every|my|both|each)\s\w+|\b(?:the|our|"
    r"final)\sdecision\b(?!\s(?:maker|making))"
    r"|^decision:|\bwe(?:['’]re|\sare)\s(?:now\s)?(?:going\s(?:with|for|ahead)|switching|dropping|"
    r"migrating|sticking|"
    r"staying\swith|keeping|scrapping|moving\s(?:to|from|away))\b|\bwe(?:['’]ll|"
    r"\swill)\s(?:go\swith|stick\swith|use|stay\swith|"
    r"drop|switch|keep|move\sto)\b|\bwe(?:['’]ve|\shave)?\s(?:just\s|finally\s|also\s)?(?:dropped|scrapped|cancelled|"
    r"postponed|abandoned|ditched|called\soff|turned\sdown|rejected)\s(?:the|our|that|all|plan)\b|\bit['’]s\s(?:been\s)?decided\b|\bi(?:['’]m|"
    r"\sam)\sgoing\swith\b|\bwe\sgo\swith\b"
    r"|\b(?:made\sup\s(?:our|my)\smind|the\schoice\sfell|(?:was|were|is|has\sbeen)\s(?:decided|"
    r"agreed|chosen)\s(?:to|that|on|for))\b"
    r"|\bi['’]ll\s(?:take|go\swith|stick\swith)\b"
    r"|\b(?:voted|decided|agreed|resolved|opted)\s(?:(?:last\snight|yesterday|today|unanimously|"
    r"finally|together|on\s\w+day|this\s\w+|(?:last|this)\s\w+)\s)?(?:to|not\sto|on|against|for|in\sfavou?r|that)\b"
    r"|\b(?:i['’]m|i\sam|we['’]re|we\sare)\s(?:now\s)?(?:dropping|cancelling|scrapping|ditching|"
    r"abandoning|going\sahead\swith|pinning|freezing|replacing|retiring|phasing\sout|postponing|pausing|"
    r"merging|adopting|skipping|reverting|rolling\sback|bringing\sforward|pushing\sback|calling\soff|doing\saway)\b",
    re.IGNORECASE,
)
OBLIGATION = re.compile(
    r"\b(?:must|mustn['’]t|shall\snot|ha(?:ve|s)\sto|needs?\sto\sbe|need\sto|"
    r"needs?\s(?=\w+\s(?:by|before))|(?:wants?|needs?)\s\d+|required?|requires|requirement|"
    r"mandatory|"
    r"compulsory|obligatory|deadline|due|no\slater\sthan|not\slater\sthan|at\sthe\slatest|"
    r"forbidden|prohibited|"
    r"not\sallowed|only\sallowed|may\s(?:not|only|never)|not\sexceed|exceed|"
    r"under\sno\scircumstances|hard\s(?:limit|cap|requirement|constraint)|"
    r"non-negotiable|hand\sin|submit|until\s\d|by\s(?:law|contract)|limited\sto|capped\sat|"
    r"cap\sis|limit\sis|is\sallowed|are\sallowed|"
    r"(?:can['’]t|cannot|can\snot|mustn['’]t)\s\w+\s(?:\w+\s){0,3}until|"
    r"not\smore\sthan|no\smore\sthan|never\smore\sthan|never\sless|always\sunder|always\sbelow|"
    r"has\suntil|have\suntil|expir(?:es?|y)|contractually|sla)\b|\b(?:no|nobody|nothing|none|"
    r"only)\b.{0,60}\bmay\b|\b(?:cannot|can['’]t)\sbe\b|\bby\s(?:the\s)?(?:"
    r"end\sof|\d|mon|tues|wednes|thurs|fri|satur|sun|january|february|march|april|may\b|june|july|"
    r"august|september|october|november|december|"
    r"next|noon|tomorrow|then)",
    re.IGNORECASE,
)
LIMIT = re.compile(
    r"\b(?:at\smost|at\sleast|maximum|minimum|max\.?|min\.?|up\sto|under\s\d|below\s\d|above\s\d|"
    r"within\s\d|less\sthan|fewer\sthan|not\sbelow|not\sabove|budget|quota|threshold|ceiling|"
    r"limit)\b",
    re.IGNORECASE,
)
# What holds of a thing from a date on; what people do on a date is an event.
MILESTONE = re.compile(
    r"\b(?:ships?|launch(?:es)?|releases|(?:be|is)\sreleased|go(?:es)?\slive|opens?|starts?|begins?|ends?|"
    r"clos(?:e|es)|expires?|renews?|changes?|"
    r"lands?|goes\sout|rolls?\sout|freez(?:e|es)|kicks?\soff|takes?\seffect|(?:is|are)\s(?:due|"
    r"planned|scheduled|set|free|available|valid|vacant|open|closed|frozen|locked|blocked)|available\s(?:from|as\sof|on)|"
    r"get\sin|milestones?|go-live|(?:date|day|deadline|launch|start|end|opening|closing|premiere|release|handover)\s(?:is|was)|publish(?:es)?|switch(?:es)?\sover|cut-?over|goes\sdead)\b",
    re.IGNORECASE,
)
PERSON_STARTS = re.compile(
    r"\b(?:i|we|he|she|they)\s(?:starts?|begins?|opens?|ends?|ships?|launch|releases?|close)\b",
    re.IGNORECASE,
)
ABSENCE = re.compile(
    r"(?:\b(?:am|is|are|will\sbe|be)|['’](?:m|s|re))\s(?:\w+\s)?(?:away|out|off|abroad|absent|"
    r"on\s(?:\w+\s)?(?:leave|holiday|vacation|parental\sleave)|in\s(?-i:[A-Z])[\w-]+)\b"
    r".{0,40}\b(?:until|till|from|this|next|on|the|(?-i:[A-Z])\w+day|week|month)\b",
    re.IGNORECASE,
)
HABIT = re.compile(
    r"\b(?:born|every|each|always|usually|weekly|monthly|daily|(?:mon|tues|wednes|thurs|fri|satur|"
    r"sun)days|per\s(?:week|month|year)|a\s(?:week|month|year)|from\s[\w\s]{2,20}\son\b)",
    re.IGNORECASE,
)
HAPPENING = re.compile(
    r"\b(?:arriv(?:e|es|ing)|leav(?:e|es|ing)|com(?:e|es|ing)|mov(?:e|es|ing)|"
    r"retir(?:e|es|ing)|marr(?:y|ies|ying)|fl(?:y|ies|ying)|turns|"
    r"(?:he|she|they|we|i)\s(?:starts?|begins?))\b",
    re.IGNORECASE,
)
APPOINTMENT = re.compile(
    r"\b(?:appointment|follow-?up|consultation|physio\w*|meeting|meet|meets|call\swith|interview|"
    r"dinner\b|party|visit|visits|flight|"
    r"fly|flying|trip|workshop|wedding|"
    r"concert|exam|check-?up|surgery|operation|birthday\sdinner|conference|webinar|demo|"
    r"presentation|present|inspection|training|"
    r"session|hearing|ceremony|funeral|reunion|travel\w*|leave\sfor|vacation|holiday|day\soff|away|"
    r"retro|standup|review\swith|coming\s(?:over|by)|comes\s(?:over|by)|pick(?:s|ing)?\sup|"
    r"reservation|booked|table|lesson|match|race|marathon)\b",
    re.IGNORECASE,
)
FAILURE = re.compile(
    r"\b(?:(?:went|goes|turned)\sred\b|(?:is|are)\sred\sagain\b|"
    r"(?:builds?|pipelines?|exports?|imports?|workflows?|checks?|tests?|jobs?|ci|suite|deploy(?:ment)?s?|monitors?|dashboards?|alerts?|runs?|lights?|status|"
    r"branch|main|master|staging|production|everything|all|it|alarms?|indicators?|leds?)"
    r"(?:\s(?:for|of|on|in)\s(?:the\s|our\s)?[\w-]+(?:\s[\w-]+)?)?(?:['’]s|\s(?:is|are|stays?))\s(?:\w+\s)?red\b|fail(?:ed|s|ing|ure)?(?!\s(?:ones|requests|attempts|jobs|runs|tests|payments|calls)\b)|broke(?!r)|broken|crash(?:ed|es|ing)?|died|killed|hung|hangs(?!\s(?:on|in|behind|over|above|next|beside|from|by)\b)|"
    r"frozen|froze|ran\sout|out\sof\smemory|outage|locked|cracked|damaged|leak(?:ed|s|ing)?|stuck|"
    r"can['’]?t\slog\sin|cannot\slog\sin|stopped\sworking|not\sworking|doesn['’]t\swork|"
    r"went\sdown|is\sdown|are\sdown|timed?\sout|"
    r"lost|stolen|missing|wrong\s(?:size|item|colou?r|address|parcel|order)|expired|"
    r"corrupt(?:ed)?|rejected|bounced|incident|root\scause|"
    r"the\s(?:cause|culprit|reason)\s(?:was|is)|never\sarrived|hasn['’]t\sarrived|"
    r"has\snot\sarrived|delayed|overheat\w*|jammed|flooded|scratched|dented|torn|faulty|"
    r"(?:is|are|keeps?)\s\w+ing\sagain|(?:freezes|sticks|jams|crashes|drops|hangs|refuses|"
    r"prints\s(?:blank|nothing|gibberish)|skips|overheats|flickers|beeps|leaks|loops|restarts|reboots)"
    r"(?:\s\w+){0,2}\sagain|stops?\s(?:at|with|working|halfway)|stall(?:s|ed|ing)|act(?:s|ing)\sup|twice\sby\smistake|"
    r"(?:throws?|throwing|gives?|giving|returns?|returning|shows?|showing)\s(?:a\s|an\s|us\s)?(?:[45]\d\ds?|errors?)|"
    r"charged\stwice|double-?charged|errors?|returned\s[45]\d\ds?|exhausted|unreachable|"
    r"unavailable)\b",
    re.IGNORECASE,
)
LEISURE = re.compile(
    r"\b(?:saw|watched|read|listened|went\sto\s(?:see|a)|visited|played|tried|cooked|baked|heard|"
    r"met|attended|enjoyed|finished)\b",
    re.IGNORECASE,
)
# "My one rule: …", "house rule number one is …"
RULE_HEAD = re.compile(
    r"^(?:(?:my|our|the|a|one|house|ground|golden|iron|first|only|basic|number|simple)\s){1,4}(?:\w+\s)?rules?"
    r"(?:\s(?:here|for\s[\w\s]{2,20}|number\s\w+))?(?::|\sis\b|\sare\b)|\bthat['’]s\sa\s(?:\w+\s)?rule\b",
    re.IGNORECASE,
)
CONVENTION = re.compile(
    r"\b(?:standard|convention|policy|rule|guideline|style|always|never|every|each|by\sdefault|"
    r"practice)\b",
    re.IGNORECASE,
)
# "frozen from 15 December": what is fixed beforehand is no failure, nor is what always happens.
SPAN = re.compile(r"\b(?:from|until|till|between|starting|as\sof)\b", re.IGNORECASE)
# "When the pitch is flooded we use the gym": what is done whenever it is so.
FAILED_WHEN = re.compile(
    r"(?:and\s|but\s)?(?:when|whenever|if|in\scase)\s(?:[\w’'-]+\s){1,5}?(?:is|are|gets?)\s(?:[\w’'-]+\s)?"
    r"(?:flooded|broken|locked|stuck|jammed|frozen|lost|missing|stolen|delayed|cracked|damaged|faulty|unavailable|"
    r"unreachable|down|rejected|expired|corrupt(?:ed)?|exhausted),?\s"
    r"(?:then\s)?(?:i|we|you|he|she|they|it|the|our|my|everyone|everybody|[A-Z]\w+)(?:['’]\w+)?\s[a-z]",
    re.IGNORECASE,
)
STANDING = re.compile(r"\b(?:always|never|usually|every|each|otherwise)\b", re.IGNORECASE)
RULES_NAMED = re.compile(
    r"(?:(?:the|our|my|some|a\sfew)\s)?(?:[\w-]+\s){0,2}(?:rules?|standards?|conventions?|policy|policies|"
    r"guidelines?|principles?)\b",
    re.IGNORECASE,
)
BACKGROUND = re.compile(
    r"\bi(?:['’]ve|\shave)?\snever\s(?:been|had|seen|tried|eaten|learn(?:ed|t)|owned|worked|lived|smoked|driven|flown|ridden)\b|"
    r"\bi\s(?:\w+\s)?(?:lived|grew\sup|worked\s(?:as|at|for|in)|studied|was\s(?:born|raised|brought\sup)|served\sin)\b|"
    r"\b(?:used\sto|before\W*$|previously|formerly|originally|belonged\sto|came\sfrom|(?:ruled|priced)\sout|(?:was|were)\s(?:written|built|"
    r"designed|made|founded|named|set\sup)\s(?:by|in|with|after|on))\b",
    re.IGNORECASE,
)
PLURAL_HEAD = re.compile(r"they\b", re.IGNORECASE)
FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|i['’](?:m|ve|d|ll))\b", re.IGNORECASE)
WE = re.compile(r"\b(?:we|our|us|we['’](?:re|ve|ll|d)|someone|somebody)\b", re.IGNORECASE)
TECH = re.compile(
    r"\b(?:api|database|server|stack|hosted|repo|repository|pipeline|cluster|port|version|backend|"
    r"frontend|deploy\w*|service|framework|staging|production|cache|queue|endpoint|schema|"
    r"library)\b",
    re.IGNORECASE,
)
TASK = re.compile(
    r"\b(?:writes|does|handles|owns|reviews|takes\scare|takes\sover|is\sresponsible|in\scharge|"
    r"prepares|covers)\b",
    re.IGNORECASE,
)
REACH_ME = re.compile(
    r"\b(?:reach|contact|call|phone|ring|text|write|mail|e-?mail|message|ping)\s(?:to\s)?me\b|\bmy\s",
    re.IGNORECASE,
)
GOAL = re.compile(
    r"\b(?:my|our)\s(?:goal|aim|plan|target|dream)\b|\b(?:want|hope|plan|aim|planning|saving|"
    r"training)\s(?:to|for)\b",
    re.IGNORECASE,
)
