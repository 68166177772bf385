"""The words that correct or take back, and the kinds of value that a correction replaces."""

from __future__ import annotations

import re

from ..language.words import word_set

MARKER = re.compile(
    r"^(?:(?:oh|no|ah|hm+|ok|and|but|argh|ugh|hang\son|hold\son)[\s,.!]+){0,3}(?:actually|sorry|"
    r"wait|correction|oops|"
    r"my\s(?:mistake|bad)|scratch\sthat|i\s(?:meant|misread|mixed|misspoke|mistyped|"
    r"got\sthat\swrong|"
    r"was\swrong|was\smistaken|made\sa\smistake|read\sthat\swrong|have\sto\scorrect)|make\s(?:that|it)|rather|"
    r"let\sme\scorrect|to\scorrect|typo|no,|no\s(?:hang|hold)\son|no\swait|(?:no[,\s]+)?what\sam\si\s(?:saying|talking\sabout|on\sabout)|"
    r"(?:i\s)?(?:looked|checked|counted|measured|asked|calculated)\s(?:it\s|them\s)?again|that['’]s\swrong|not\squite|slip\sof|whoops|apologies|"
    r"strike\sthat|i\sstand\scorrected|change\sthat|small\scorrection|one\scorrection)\b"
    r"|\b(?:i\smisread|i\smeant|i\smixed\sup|correction:|my\smistake|should\sbe|i\smistyped)\b",
    re.IGNORECASE,
)
MARKER_WORDS = re.compile(
    r"^(?:(?:oh|no|ah|hm+|ok|and|but|argh|ugh|so|hang\son|hold\son|what\sam\si\s(?:saying|talking\sabout|on\sabout)|actually|sorry|wait|correction|"
    r"oops|my\s(?:mistake|bad)|"
    r"scratch\sthat|strike\sthat|i\smeant(?:\sto\s(?:say|write))?|make\s(?:that|it)|rather|typo|"
    r"whoops|"
    r"that['’]s\swrong|apologies|i\s(?:misread|mixed\sup|mistyped|misspoke)[^:,.]{0,40}|"
    r"let\sme\scorrect"
    r"(?:\sthat|\smyself)?|(?:small|one)\scorrection|it['’]s|that['’]s|it\sis|that\sshould\sbe|"
    r"it\sshould\sbe|should\sbe|"
    r"(?:i\s)?(?:looked|checked|counted|measured|asked|calculated)\s(?:it\s|them\s)?again|"
    r"(?:change\s)?that\sto|we\sare|we['’]re|i\sstand\scorrected|i\swas\s(?:wrong|mistaken)|i\sgot\sthat\swrong)"
    r"\b[\s,.:;!–—-]*)+",
    re.IGNORECASE,
)
# What says of the speaker that they erred, and nothing of what holds.
MISTAKEN = re.compile(
    r"^(?:(?:oh|no|ah|ok|sorry|oops|wait|actually|apologies)[\s,.!]+){0,3}(?:i\s(?:was\s(?:wrong|mistaken)"
    r"|misspoke|mistyped|stand\scorrected|got\sthat\swrong)|my\s(?:mistake|bad))\b",
    re.IGNORECASE,
)
NOT_OLD = re.compile(
    r"^(?P<new>.{1,200}?)(?:,|\s[–—-])?\s(?:and\s)?(?:not|instead\sof|rather\sthan)\s(?:the\s|"
    r"on\s|at\s|in\s|for\s)?(?P<old>[^,.;:]{1,40}?)[.!]*$",
    re.IGNORECASE,
)
NOT_OLD_BUT = re.compile(
    r"^(?:it['’]s\s|that['’]s\s)?not\s(?P<old>[^,.;:]{1,40}?),?\s(?:but|it['’]s|"
    r"rather)\s(?P<new>[^,.;:]{1,60}?)[.!]*$",
    re.IGNORECASE,
)
# Takes back the sentence before it: what holds may follow, in the same sentence or the next.
WRONG = re.compile(
    r"(?:(?:oh|no|ah|hm+|sorry|oops|wait|actually|hang\son|hold\son)[\s,.!]+){1,3}"
    r"(?:that['’]s|that\sis|that\swas)\s(?:all\s|completely\s)?"
    r"(?:wrong|incorrect|not\s(?:right|correct|true))(?:[.!]*|\s?[,;:–—-]+\s?(?P<rest>.+))",
    re.IGNORECASE,
)
RETRACT_ALL = re.compile(
    r"^(?:(?:god|haha|no|nah|oh|ah|ok|actually|right|well|hm+|wait|sorry|not\sreally|ha)[\s,.!]+){0,3}(?:(?:please\s)?(?:forget|"
    r"scratch|ignore|strike|"
    r"disregard|scrap|cancel)\s(?:it|that|this|what\si\s(?:just\s)?said|"
    r"(?:my|the|that|this)\slast\s\w+)(?=\s*(?:[.!;:–—-]|$|,\s(?:i|we|it|that|no|let|he|she|they|his|her|their|my|our)))|"
    r"(?:scratch|strike|forget|scrap)\s(?:it|that)(?=,)|never\s?mind\b|"
    r"nevermind\b|(?:that|this|it)\s(?:was|is)\s(?:meant\s)?(?:only\s|just\s)?(?:sarcasm|sarcastic|ironic|irony|a\sjoke|"
    r"in\sjest|meant\sas\sa\sjoke)\b|i\s(?:was|am)\s(?:only\s|just\s)?being\s(?:sarcastic|ironic|silly)\b|(?:don['’]t|do\snot)\stake\s(?:that|it|this|me)\s(?:too\s)?seriously\b|i\stake\s(?:that|it)\sback|i\swas\s(?:just\s|only\s)?(?:joking|kidding|dreaming|fantasi[sz]ing|rambling|exaggerating|"
    r"wrong\sabout\sthat|daydreaming)|(?:(?:just|only)\s)?(?:joking|kidding|jk)\b|i\slied\b|that['’]s\soff|"
    r"that\sis\soff|(?:hm+|oh|actually|wait|well|ah)[\s,]+(?:actually[\s,]+|wait[\s,]+)?no[.!]*$|"
    r"on\ssecond\sthought\w*)",
    re.IGNORECASE,
)
# "That was sarcasm": nothing of the turn before was meant.
IN_JEST = re.compile(
    r"\b(?:seriously|fantasi\w+|dreaming|sarcas\w+|ironic|irony|joking|kidding|jk|lied|a\sjoke|in\sjest|being\ssilly)\b",
    re.IGNORECASE,
)
# "Forget what I said about the van, it's sold."
RETRACT_ABOUT = re.compile(
    r"^(?:(?:no|oh|ah|ok|actually|right|well|hm+|wait|sorry|and|please|also)[\s,.!]+){0,4}"
    r"(?:forget|ignore|disregard|scratch|strike|drop|scrap|delete|remove)\s(?:please\s)?(?:(?:everything|all|what|"
    r"anything|whatever|the\s(?:thing|part|bit|stuff))\s)?(?:that\s)?(?:i|i['’]ve)\s(?:just\s|ever\s)?(?:said|told\s(?:you|u)|"
    r"mentioned|wrote|asked)\s(?:(?:just\snow|earlier|before|you|yesterday)\s)?(?:about|on|regarding|concerning)\s"
    r"(?P<x>[^.,;!–—]{2,60})(?P<rest>.*)$",
    re.IGNORECASE,
)
# "Just kidding, I don't live there, forget that.": the end says it again.
FORGET_TAIL = re.compile(
    r",\s(?:so\s)?(?:please\s)?(?:forget|ignore|disregard|scratch)\s(?:that|it|this)[.!]*$", re.I
)
RETRACT_X = re.compile(
    r"\b(?:scrap|drop|ditch|forget(?:\sabout)?|abandon|kill|cancel|dump|bin|skip|not\sgoing\swith|"
    r"decided\sagainst|no\slonger\s(?:going\swith|using|want))\s(?:the\s|that\s|our\s|"
    r"on\s)?(?P<x>[A-Z][\w-]+|[a-z][\w-]{3,})",
    re.IGNORECASE,
)
PLAN = re.compile(
    r"\b(?:let['’]s|we['’]ll|i['’]ll|going\s(?:to|with)|go\swith|decided|plan|planning|chose|"
    r"choose|"
    r"want(?:s)?\sto|will|book|use|switch|picked|settled|agreed|opt(?:ed)?\sfor|i['’]d\slike|"
    r"meet)\b",
    re.IGNORECASE,
)
PURPOSE = re.compile(r"\s(?:for|as)\s(?:the|our|my|a)\s[\w\s-]{3,40}$", re.IGNORECASE)
DECISION = re.compile(
    r"\b(?:decided\son|go\swith|going\swith|settled\son|chose|picked|went\swith|opt(?:ed)?\sfor|"
    r"stick\swith|use)\b",
    re.IGNORECASE,
)
VALUES = (
    ("weekday", re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.I)),
    ("date", re.compile(
        r"\b(?:\d{1,2}\s)?(?:january|february|march|april|may|june|july|august|september|october|"
        r"november|december)\b(?:\s\d{1,2})?(?:st|nd|rd|th)?|\bthe\s\d{1,2}(?:st|nd|rd|"
        r"th)\b", re.I)),
    ("time", re.compile(
        r"\b\d{1,2}:\d\d\b(?:\s?[ap]m)?|\b\d{1,2}\s?[ap]\.?m\b|\bnoon\b|\bhalf\spast\s\w+|"
        r"\b\w+\so['’]clock", re.I)),
    ("money", re.compile(
        r"[$€£]\s?\d[\d.,]*\s?(?:k|m|million|thousand)?\b|\b\d[\d.,]*k?\s(?:euros?|dollars?|"
        r"pounds?|kronor|francs|eur|usd|gbp|million)\b", re.I)),
    ("frequency", re.compile(
        r"\b(?:once|twice|thrice|(?:\d+|two|three|four|five|six)\stimes)(?:\s(?:a|per|every|each)\s\w+)?"
        r"|\bevery\s(?:other\s|second\s|\d+\s|two\s|three\s|four\s|six\s)?(?:hours?|days?|weeks?|months?|years?)\b"
        r"|\b(?:daily|weekly|fortnightly|monthly|quarterly|yearly)\b", re.I)),
    ("number", re.compile(
        r"(?<!\d[.,:/-])\b(?:\d[\d.,]*k?(?![:/]\d)"
        r"|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
        r"(?:[\s-](?:one|two|three|four|five|six|seven|eight|nine))?|(?:a|one)\shundred|one|two|"
        r"three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
        r"seventeen|eighteen|nineteen)\b", re.I)),
    ("name", re.compile(r"(?<!^)(?<![.!?]\s)\b[A-Z][\w-]+(?:\s[A-Z][\w-]+)*")),
)  # fmt: skip
# Where one looks up what holds: "I checked the booking, it's 16:45".
RECORDS = word_set(
    """
    booking ticket calendar list mail email e-mail letter message contract schedule website site
    page note app plan diary invoice receipt bill quote offer spreadsheet sheet manual doc file form
    invitation poster timetable confirmation record log order catalogue menu paper leaflet statement
    config configuration setting dashboard code
    """
)
# "No, hang on, the van is only free on the 30th, so it's the 30th."
SETTLED = re.compile(
    r"[,;–—-]\s(?:so|then)\s(?:it['’]s|it\sis|make\s(?:it|that)|that['’]s|it['’]ll\sbe|say)\s(?:on\s|at\s)?"
    r"(?P<value>(?:the\s)?[\w:.’'-]+(?:\s[\w:.’'-]+){0,2})[.!]*$",
    re.IGNORECASE,
)
# "One of them died, so it's five now."
RECOUNTED = re.compile(
    r",?\s(?:so|which\smeans|that\smeans)\s(?:it['’]s|that['’]s|there(?:['’]s|\sare)|we['’]re\s(?:down\sto|up\sto|at|now)|"
    r"i['’]m\s(?:down\sto|up\sto|at)|that\sleaves(?:\sus|\sme)?(?:\swith)?|(?:that\s)?makes(?:\sit)?|now\sit['’]s)\s(?:only\s|just\s)?"
    r"(?P<n>\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty)(?:\s(?:now|left|in\sall|altogether|of\sthem))*[.!]*$",
    re.IGNORECASE,
)
# "We're moving it to the parish hall, same time."
RELOCATED = re.compile(
    r"\b(?:moving|moved|move|shifting|shifted|relocating|relocated)\s(?:it|this|that|the\s(?:\w+\s)?(?:party|meeting|event|dinner|shower|"
    r"session|wedding|rehearsal|workshop|thing|class|lesson))\s(?:over\s)?to\s(?P<new>(?:the\s)?(?!next\b|the\s\d|\d|\w+day\b)[^,;.!?]{3,40})",
    re.IGNORECASE,
)
HELD_AT = re.compile(
    r"\b(?:at|in)\s(?P<old>(?:(?:the|my|our)\s)?[A-ZÀ-Þ][\w’'-]*(?:\s[A-ZÀ-Þ][\w’'-]+)*|(?:the|my|our)\s(?!morning|evening|afternoon|end)[a-z]+(?:\s[a-z]+)?)"
    r"(?=[,.;]|\s(?:at|on|from|with|for)\b|$)"
)
# "Wait, one more thing": a count of what is to come, and no value.
ANNOUNCES = re.compile(
    r"\b(?:more|other|another|things?|questions?|points?|minutes?|seconds?|sec|moment|each|one\sof)\b",
    re.IGNORECASE,
)
NOT_ONLY = re.compile(
    r"^not\s(?:the\s|on\s|at\s|in\s)?(?P<old>[\w’'-]+(?:\s[\w’'-]+){0,2})[.!]*$", re.I
)
INSTEAD = re.compile(
    r"^(?:it['’]s|it\sis|that['’]s|make\sit|but|rather|we\s(?:took|chose|mean)|i\smeant)\s"
    r"(?P<new>[^,;]{2,40}?)[.!]*$",
    re.IGNORECASE,
)
# A thing with a number of its own: "courtroom 7", "gate B12".
LABELLED = re.compile(r"\b(?P<noun>[a-z]{3,})\s(?P<value>[A-Z]{0,2}\d{1,4}[A-Za-z]?)\b(?![.,:]\d)")
SAYS_NO = re.compile(r"(?:(?:ah|oh|hm+|wait|well|but)[\s,]+){0,2}no[,.!\s]", re.IGNORECASE)
ITEM_IS = re.compile(
    r"(?:the\s)?(?P<noun>[a-z][\w-]{2,})\s(?:is|are|was|were|costs?)\s(?P<value>[$€£]?\d[\d.,]*\d|\d)(?!\w)",
    re.IGNORECASE,
)
ITEM_WAS = (
    r"(?P<before>[$€£]?\d[\d.,]*\d|\d)%?(?:\s[a-z]+)?\s(?:for|on)\s(?:the\s)?{0}\b"
    r"|\b{0}(?:\s(?:is|are|at|costs?)|:)?\s(?P<after>[$€£]?\d[\d.,]*\d|\d)(?!\w)"
)
# "No, that's the roofers": the answer just given belongs to another question.
OTHERS = re.compile(
    r"^(?:(?:no|oh|wait|hang\son|hold\son|sorry|hm+|ah|actually)[\s,.!]+)+(?:that['’]s|that\sis|"
    r"that\swas|it['’]s)\s(?:for\s)?(?P<noun>(?:the|my|our|his|her)\s[\w\s-]{3,30}?)[.!]*$",
    re.IGNORECASE,
)
SUBJECT_ASKED = re.compile(r"\b(?:the|your|our|his|her)\s[\w-]+\b", re.IGNORECASE)
LIST_AGAIN = re.compile(
    r"^(?:(?:so|no|sorry|ok|then|i\smean|make\sthat|it['’]s)[\s:,]+){0,3}"
    r"(?P<items>[^,;:.]{1,30}(?:,\s(?:and\s|then\s)?[^,;:.]{1,30}){2,7}?)[.!]*$",
    re.IGNORECASE,
)
HEDGE = re.compile(
    r"^(?:(?:i\s(?:believe|think|guess|suppose|recall)|as\sfar\sas\si\sknow|probably|perhaps|"
    r"maybe|if\si\sremember\s(?:correctly|right)|from\smemory)[\s,]*(?:that\s)?)+"
    r"|,\s(?:i\s(?:believe|think|guess)|if\si\sremember\s(?:correctly|right))(?=[.!]*$)",
    re.IGNORECASE,
)
