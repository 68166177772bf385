"""The one regular expression that finds dates, relative and partial ones among them."""

from __future__ import annotations

import re

_MONTH = (
    r"(?P<{0}>January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\b\.?"
)
# "8 august": casual writers leave the capital out; a lower-case "may" is rarely the month.
_MONTH_BESIDE_DAY = _MONTH.replace(
    ")\\b", "|january|february|march|april|june|july|august|september|october|november|december)\\b"
)
_MONTH_IN = _MONTH_BESIDE_DAY.replace("|june|", "|may|june|")
_DAY = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th)?"
_BIG_NTH = (
    r"(?:twenty|thirty)[\s-](?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|eleventh|"
    r"twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|"
    r"twentieth|thirtieth"
)
_NTH = (
    rf"(?P<{{0}}>\d{{{{1,2}}}}(?:st|nd|rd|th)?|{_BIG_NTH}|first|second|third|fourth|fifth|sixth|seventh|"
    r"eighth|ninth|tenth)"
)
WEEKDAY_NAME = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_YEAR = r"(?:,?\s(?P<{0}>(?:19|20)\d\d)\b)?"
_COUNT = (
    r"(?P<{0}>\d{{1,3}}|a couple of|a few|several|an?|one|two|three|four|five|six|seven|eight|nine"
    r"|ten|eleven|twelve|fifteen|twenty|thirty)"
)
_UNIT = r"(?P<{0}>day|week|fortnight|month|year)s?"
# "Mon 8:30", "see you Thurs": short names count where a capital shows them for what they are.
_SHORT_WEEKDAY = (
    r"(?-i:(?<![.!?]\s)(?<!^)(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b\.?(?!['’-])|"
    r"(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b\.?(?=\s(?:\d|at\s\d)))"
)
_PART = r"(?:\s(?P<{0}>morning|noon|afternoon|evening|night|lunchtime))?"

DATE_EXPRESSION = re.compile(
    "|".join(
        (
            r"(?P<feast>\b(?:(?:the\s)?day\s(?P<feastp>after|before)\s)?(?-i:(?P<feastn>[Cc]hristmas\s(?:[Ee]ve|[Dd]ay)|[Bb]oxing\s"
            r"[Dd]ay|[Nn]ew\s[Yy]ear['’]?s\s(?:[Ee]ve|[Dd]ay)|[Hh]alloween|[Vv]alentine['’]s(?:\s[Dd]ay)?|[Gg]ood\sFriday|"
            r"[Ee]aster\s(?:[Ss]unday|[Mm]onday)|[Mm]idsummer['’]s\s[Dd]ay))\b)",
            r"(?P<iso>\b(?:19|20)\d\d-[01]\d-[0-3]\d\b)",
            rf"(?P<md>\b(?:(?:{WEEKDAY_NAME}|this|next|coming),?\s)?(?-i:{_MONTH_BESIDE_DAY.format('mdm')})\s"
            rf"(?:the\s)?{_DAY.format('mdd')}\b(?![%:.,]\d)(?P<mdr>\s?(?:and|to|until|–|"
            rf"-)\s?\d{{1,2}}(?:st|nd|rd|th)?\b(?!\s?[:%a-z]))?"
            rf"{_YEAR.format('mdy')})",
            rf"(?P<dm>\b(?:{WEEKDAY_NAME},?\s)?(?:the\s)?{_NTH.format('dmd')}\.?(?P<dmr>\s?(?:and|"
            rf"to|until|–|-)\s?\d{{1,2}}(?:st|nd|rd|th)?)?\s(?:of\s)?"
            rf"(?-i:{_MONTH_BESIDE_DAY.format('dmm')}){_YEAR.format('dmy')})",
            rf"(?P<off>\b(?P<offn>an?|one|two|three|four|five|six|\d{{1,2}})\s(?P<offu>weeks?|fortnight)\s"
            rf"(?:from|on|after)\s(?:(?:this|coming|next)\s)?(?P<offd>{WEEKDAY_NAME}|today|tonight|tomorrow)\b)",
            rf"(?P<wdo>\b(?P<wdon>{WEEKDAY_NAME})\s(?P<wdou>week|fortnight)\b(?!['’]))",
            rf"(?P<far>\bthe\s(?P<farw>week|weekend|month|{WEEKDAY_NAME})\s(?P<fark>after\snext|before\slast)\b)",
            rf"(?P<nwd>\b(?:the\s)?(?P<nwdn>first|second|third|fourth|last)\s(?P<nwdd>{WEEKDAY_NAME})\s(?:of|in)\s"
            rf"(?:(?P<nwdr>next|this|the)\smonth|(?-i:{_MONTH.format('nwdm')}))(?!\s\d))",
            r"(?P<num>(?<![\d.])\b(?P<numd>[0-3]?\d)(?:\.(?P<numm>[01]?\d)\.(?P<numy>(?:19|20)\d\d)?(?!\d)|"
            r"/(?P<nums>[01]?\d)/(?P<numz>(?:19|20)\d\d)\b))",
            r"(?P<ref>\b(?:the\s)?day\s(?:after\stomorrow|before\syesterday)"
            rf"|\b(?:today|tonight|tomorrow|yesterday){_PART.format('refp')}"
            r"|\blast\snight|\bthis\s(?:very\s)?(?:morning|afternoon|evening)\b)",
            rf"(?P<th>\b(?:{WEEKDAY_NAME},?\s)?"
            rf"the\s(?P<thd>\d{{1,2}}(?:st|nd|rd|th)|{_BIG_NTH})\b"
            r"(?=\s*(?:[.,;:!?)]|$|(?:is|at|in|and|"
            r"or|for|to|until|till|from|with|because|when|where|if|so|then|not|around|about|after|"
            r"before|between|(?-i:[A-ZÀ-Þ])[\w'’-]+|we|i|he|she|they|my|our|his|her|their|by|of\sthe\smonth|of\s(?:this|next)\smonth)"
            r"\b))(?:\sof\s(?P<thm>the|this|next)\smonth)?)",
            rf"(?P<wds>\b(?:(?P<wdsp>(?:this|next|last)\sweek),?\s(?:on\s|from\s)?)?"
            rf"(?P<wdsa>{WEEKDAY_NAME})\s?(?P<wdsj>and|to|through|until|till|–|-)\s?"
            rf"(?P<wdsb>{WEEKDAY_NAME})(?:\s(?P<wdsw>(?:(?:of\s)?(?:this|next|last))\sweek))?)",
            rf"(?P<wd>\b(?:(?P<wdv>(?:next|last|this)\sweek),?\s(?:(?P<wdvs>on|from|starting|beginning)\s)?)?"
            rf"(?:(?P<wdrel>this\scoming|next|this|last|past|(?<!is\s)(?<!are\s)(?<!['’]s\s)coming)\s)?"
            rf"(?:(?P<wdn>{WEEKDAY_NAME})\b|(?P<wdm>{_SHORT_WEEKDAY}))"
            rf"(?!s\b|\s(?:morning|noon|afternoon|evening|night|lunchtime)s\b){_PART.format('wdp')}(?:,?\s(?P<wdw>(?:(?:of\s)?(?:next|last|this))"
            rf"\sweek))?)",
            r"(?P<span>\b(?P<srel>next|last|this(?:\spast|\scoming)?|past|coming)\s"
            r"(?P<sunit>week(?:end)?|month|year|quarter|spring|summer|autumn|fall|winter"
            r"|january|february|march|april|may|june|july|august|september|october|november"
            r"|december)\b(?!\w))",
            rf"(?P<ago>\b(?:about\s|around\s)?{_COUNT.format('agon')}\s{_UNIT.format('agou')}\s"
            r"(?:ago|back)\b)",
            rf"(?P<wkd>\bin\s{_COUNT.format('wkn')}\sweeks,?\s(?:on\s|from\s)?"
            rf"(?P<wka>{WEEKDAY_NAME})(?:\s?(?P<wkj>and|to|through|until|till|–|-)\s?"
            rf"(?P<wkb>{WEEKDAY_NAME}))?)",
            rf"(?P<ahead>\bin\s(?:(?:about|exactly|around|roughly|just)\s)?{_COUNT.format('ahn')}\s"
            rf"{_UNIT.format('ahu')}(?:['’]s?\stime)?\b(?!\s(?:of|or|per)\b)|\b"
            rf"{_COUNT.format('fnn')}\s{_UNIT.format('fnu')}\sfrom\s(?:now|today)\b)",
            r"(?P<eom>\b(?:the\s)?(?P<eomk>end|start|beginning|middle)\sof\s(?:the|this)\s"
            r"(?P<eomu>month|year|week|quarter)\b)",
            rf"(?P<part>\b(?P<partp>early|mid|late)[\s-](?-i:{_MONTH.format('partm')})(?!\s\d))",
            rf"(?P<mspan>(?:(?<=\bfrom\s)|(?<=\bbetween\s))(?-i:{_MONTH.format('msa')})\s(?P<msj>to|until|till|through|and)\s"
            rf"(?-i:{_MONTH.format('msb')})(?!\s\d{{1,2}}\b){_YEAR.format('msy')})",
            r"(?P<mon>(?<=\b[Ii]n\s)(?-i:"
            + _MONTH_IN.format("monm")
            + r")(?!\s\d)|(?<=\bsince\s)(?-i:"
            + _MONTH_IN.format("monm2")
            + r")(?!\s\d)|(?<=\buntil\s)(?-i:"
            + _MONTH_IN.format("monm3")
            + r")(?!\s\d)|(?<=\b(?:half|week|days)\sof\s)(?-i:"
            + _MONTH_IN.format("monm5")
            + r")(?!\s\d)|(?<=\b[Bb]y\s)(?-i:"
            + _MONTH_IN.format("monm4")
            + r")(?!\s\d))",
        )
    ),
    re.IGNORECASE,
)
