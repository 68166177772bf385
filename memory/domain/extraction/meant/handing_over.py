"""What hands a text over to be worked on, and what says that one's own words go on.

"Can you summarise this article?", "Proofread: …", "Dear Sir, …": what follows is nobody's
statement. "Is it too long?", "By the way, …": from here on the speaker speaks.
"""

from __future__ import annotations

import re

_TASK = (
    r"(?:translat\w+|summari[sz]\w+|proof-?read|rewrite|rephrase|paraphrase|reword|shorten|simplify|edit|polish|"
    r"condense|transcribe|sum\sup|spell-?check|re-?format|"
    r"(?:correct|fix|check|improve)(?:\sthe|\smy)?\s(?:grammar|spelling|typos?|wording|style|punctuation|english|commas))"
)
# What may be asked about a text, but about other things as well.
_WORK = (
    rf"(?:{_TASK}|review|explain|analy[sz]e|parse|format|convert|classify|check|read|look\s(?:at|over|through)|"
    r"go\sover|improve|correct|fix|grade|critique|criticise|comment\son|feedback\son|turn|put|make|cut|continue|"
    r"finish|interpret|reply\sto|respond\sto|answer|react\sto|think\s(?:of|about)|wrong\swith|mean(?:s|t\sby)?|"
    r"does|tidy\sup|clean\sup|rate|judge|tone\sdown|(?<=mind\s)\w+ing(?:\s(?:up|over))?)"
)
_TEXT = (
    r"(?:articles?|texts?|paragraphs?|passages?|bio|biography|(?:cover\s|love\s)?letters?|e-?mails?|mails?|messages?|"
    r"posts?|tweets?|essays?|stor(?:y|ies)|poems?|lyrics|songs?|reviews?|transcripts?|chats?|dialogues?|"
    r"conversations?|scripts?|abstracts?|reports?|notes|statements?|profile|speech|toast|captions?|adverts?|ads?|"
    r"listings?|descriptions?|drafts?|sentences?|quotes?|quotations?|excerpts?|extracts?|chapters?|pages?|blog|"
    r"summary|minutes|threads?|comments?|tickets?|logs?|snippets?|jokes?|riddles?|entry|obituary|press\srelease|"
    r"clauses?|lines?|verses?|words|phrase|homework|complaint|invitation|error|output|scenes?|monologue|"
    r"testimonials?|case|copy)"
)
_POINTS_AT = (
    r"(?:this|these|the\s(?:following|text|attached)|below|following|(?:my|our)\s[\w-]+['’]s)"
)
_AS_IF_NAMED = (
    r"(?:(?:system\s)?prompt|persona|assignment|exercise|lyrics|poem|excerpt|extract|passage|quote|quotation|(?:original|source|sample|example|test)(?:\s"
    r"(?:text|input|data|sentence|message|answer))?|text|transcript|article|essay|paragraph|draft|input|abstract|"
    r"cover\sletter|bio|obituary|press\srelease|dialogue|script|speech|verse|chorus|scene|monologue|tweet|post)"
)
_ASKS = (
    r"(?:(?:please|now|so|ok|okay|and|hey|hi|hello|then|kindly)[\s,]+"
    r"|(?:can|could|would|will)\syou\s(?:please\s)?"
    r"|(?:help\sme|i\s(?:need|want)\syou)\s(?:to\s)?|i['’]d\slike\syou\sto\s)"
)
_LEAD = (
    r"(?:(?:please|hi|hey|hello|ok|okay|so|now|and|also|but|then|thanks|next|quick\s\w+)[\s,!:]+)"
    r"{0,3}"
    r"(?:(?:can|could|would|will|do)\syou\s(?:[\w’']+\s){0,3}?|(?:help\sme|i['’]d\slike\syou|i\s(?:need|want)\s(?:you|help))\s(?:to\s)?"
    r"|what(?:['’]s|\sis|\sdoes|\sdo\syou)?\s|how\s(?:would|do|can|should)\s(?:you|i)\s|(?:what|how)\sdoes(?=\s)|please\s)?"
)
_WITH_COLON = re.compile(
    rf"^(?:{_ASKS}{{0,4}}{_TASK}\b[^:.!?]{{0,60}}"
    rf"|{_ASKS}{{0,4}}{_WORK}\b[^:.!?]{{0,40}}\b{_POINTS_AT}\b[^:.!?]{{0,40}}"
    rf"|(?:here\s(?:is|are)|here['’]s|this\sis|these\sare|that['’]s)\s(?!my\s(?:bio|profile)\b)(?:what|an?|the|my|our|his|her|their|one)\b"
    rf"[^:.!?]{{0,30}}\b(?!notes|minutes|summary|report|case|words|error|output|copy){_TEXT}\b[^:.!?]{{0,40}}"
    rf"|(?:the\s|my\s|an?\s)?{_AS_IF_NAMED}(?:\s(?:for|of|from|to|by|on|in)\b[^:.!?]{{0,30}})?"
    rf"|(?:[\w’'-]+\s){{1,4}}(?:sent|wrote|texted|posted|forwarded|emailed)\s(?:(?:me|us|to\sme)\s)?(?:this|that|the\sfollowing)\b[^:.!?]{{0,30}}"
    rf"|(?:i|we)(?:['’]ve|\shave)?\s(?:just\s)?(?:found|read|got|received|copied|posted|drafted|wrote|written)\s(?:this|the\sfollowing|an?\s{_TEXT})\b[^:.!?]{{0,40}}"
    rf"|(?:begin\s|start\sof\s)?(?:the\s)?(?:forwarded|quoted|original|pasted)\s(?:message|mail|e-?mail|text)"
    r")\s?:(?=\s|$)",
    re.IGNORECASE,
)
_POINTED_AT = re.compile(
    rf"^{_LEAD}{_WORK}\b[^:.!?]{{0,30}}"
    rf"(?:\b{_POINTS_AT}\s(?:[\w-]+\s){{0,3}}?{_TEXT}\b|\bthe\s{_TEXT}\s(?:below|that\sfollows|underneath)\b)[^:.!?]{{0,60}}[.?!:]*$"
    r"|^(?:i|we|my\s[\w-]+)(?:['’]ve|\shave|\shas)?\s(?:just\s)?(?:wrote|written|drafted|composed)\s(?:this|the\sfollowing)\b[^:.!]{0,60}[?:.]$"
    rf"|^(?:(?:the|my)\s)?(?:{_TEXT}|it)\s(?:is|are|follows|comes)\s?(?:pasted\s|copied\s)?(?:below|here)?[.:]*$"
    rf"|^(?:see|text|pasted|copied)\s(?:it\s)?below\b[^.!?]{{0,20}}[.:]*$",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"^(?:dear\s(?!(?:assistant|agent|ai|bot|chat\w*|claude|computer|god|lord|me|oh)\b)(?:[A-Za-zÀ-ÿ’'-]+\s?){1,4}(?:,|\n|$)"
    r"|to\swhom\sit\smay\sconcern\b|sehr\sgeehrte|liebe[rs]?\s(?-i:[A-Z])|estimad[oa]s?\s|ch[eè]re?s?\s(?-i:[A-Z])"
    r"|(?:madame|monsieur),|gentil[ei]\s|geachte\s|beste\s)",
    re.IGNORECASE,
)
_SIGNS_OFF = re.compile(
    r"^(?:(?:with\s)?(?:best|kind|warm|many|yours|sincerely|cheers|love|all\sthe\sbest|regards|respectfully)\b"
    r"(?:\s(?:regards|wishes|sincerely|faithfully|truly|greetings))?)(?:,|$)",
    re.IGNORECASE,
)
# Said of the text that was handed over.
_OF_THE_TEXT = re.compile(
    rf"\b(?:it|this|that|them|these|those|{_TEXT}|tone|genre|wording|above|reply|answer|respond|react|rhyme\w*|"
    rf"too\s(?:\w+))\b",
    re.IGNORECASE,
)
_NOT_OF_THE_TEXT = re.compile(
    r"^(?:(?:oh|and|ps|p\.s\.)[\s,:]+)?(?:by\sthe\sway|btw|anyway|on\sanother\snote|unrelated|apart\sfrom\sthat|in\sreal\slife|in\sreality|"
    r"irl|for\sreal|actually|(?:that|this)['’]?s?\s(?:is|was)?\s?(?:the|my|her|his|all|end)\b|end\sof\s"
    rf"(?:the\s)?(?:quote|{_TEXT})|my\sown\b|as\sfor\sme|(?:ok(?:ay)?|so|thanks|thank\syou)[\s,!.]+(?:i|my|now|that)\b)"
    r"|\b(?:by\sthe\sway|btw|in\sreal\slife)[.!]?$",
    re.IGNORECASE,
)
_ASKS_FOR_WORK = re.compile(
    rf"^(?:{_ASKS}|(?:i['’]d\slike|i\swant|i\sneed)\s(?:it|this|that)\s){{0,4}}(?:{_TASK}|(?:make|turn|cut|tone|put|keep|give|tell|write|draft|reply|"
    rf"respond|answer|check|rate|suggest|add|remove|explain|continue)\b(?=.*\b(?:it|this|that|me|them|{_TEXT}|reply|answer|spelling|grammar|tone)\b))"
    r"|^too\s\w+(?:\sor\s[\w\s]+)?\?$|^(?:any|what)\s(?:feedback|thoughts|suggestions|typos|mistakes|improvements)\b",
    re.IGNORECASE,
)
# "I need it for Monday": said of a text that is not in the message.
_ABOUT_IT = re.compile(
    r"^(?:(?:and|but|so)\s)?(?:(?:i|we|he|she|they|my\s\w+)\s(?:[\w’']+\s){1,4}?(?:it|this|that|them)\b|it(?:['’]s|\s[a-z]+)\b|(?:this|that)(?:['’]s|\sis|\swas|\shas)\b)",
    re.IGNORECASE,
)
# "My boss needs it by Friday."
_NEEDED = re.compile(
    r"(?:i|we|he|she|they|my\s\w+)\s(?:\w+\s){0,2}?(?:need|needs|want|wants|have|has|must)\s(?:\w+\s){0,2}?(?:it|this|that|them)\b",
    re.IGNORECASE,
)


def handed_over(*, sentence: str) -> int | None:
    """How much of a sentence is the speaker's own where it hands text over with a colon."""
    found = _WITH_COLON.match(sentence)
    return found.end() if found else None


def points_at_text(*, sentence: str) -> bool:
    """Whether a sentence asks for work on a text that comes next: "summarise this article?"."""
    return bool(_POINTED_AT.search(sentence))


def begins_letter(*, sentence: str) -> bool:
    """Whether a sentence addresses a letter to somebody else."""
    return bool(_LETTER.match(sentence))


def signs_off(*, line: str) -> bool:
    """Whether a line is the close of a letter."""
    return bool(_SIGNS_OFF.match(line))


def is_about_it(*, sentence: str) -> bool:
    """Whether a sentence speaks of a text as of something that lies elsewhere."""
    return bool(_ABOUT_IT.match(sentence))


def is_own_again(*, sentence: str, fresh: bool) -> bool:
    """Whether a sentence is no part of the text handed over; `fresh` says that a part ended."""
    if fresh and _NEEDED.match(sentence):
        return True
    if _ASKS_FOR_WORK.match(sentence) or _NOT_OF_THE_TEXT.search(sentence):
        return True
    return sentence.endswith("?") and (fresh or bool(_OF_THE_TEXT.search(sentence)))
