"""What others say: quotations, opinions, slogans, and what some film or article claims."""

from __future__ import annotations

import re

from .agents_words import is_agents_word

_OPINION_OF_OTHERS = re.compile(
    r"\b(?!(?:i|we|and|any|all|of|such|no|in|with|for|the|insurance|file|handle|process)\b)[\w’']+\s(?:(?:always|still|once|just|often|also|"
    r"even)\s)?(?:keeps?\s(?:on\s)?"
    r"(?:saying|quoting|telling|claiming|repeating|insisting|asking|complaining)|quot(?:es|"
    r"ed)(?!\s(?:me\s|us\s)?[\d$€£])|"
    r"claims(?=\s\w)|claimed|thinks|believes|argues|argued|swears|swore|joked|jokes|reckons|"
    r"insists?(?:\sthat|,?\s[\"“'‘])|(?:likes|loves)\sto\ssay|used\sto\ssay|"
    r"was\slike|goes\son\sabout|predicts?|predicted|suggests?\sthat|suspects?|guess(?:es|ed)|"
    r"mutter(?:s|ed)|rant(?:s|ed)|complain(?:s|ed)\sthat|brag(?:s|ged)|tweeted|"
    r"call(?:s|ed|ing)\s(?:it|us|them|that|this)|described?\s(?:it|us)\sas)\b",
    re.IGNORECASE,
)
_SAID_QUOTE = re.compile(
    r"\b(?:said|says|say|told|wrote|writes|tweeted|posted|reads?|headline|slogan|motto|proverb|"
    r"saying|article|blog|quote|title|line|lyrics?|according\sto|"
    r"per)\b[^\"“]{0,60}[\"“][^\"”]{6,}[\"”]"
    r"|^['‘](?=\w)[^\"”]{6,}[,.!?]['’]\s(?:said|says|wrote|writes)\b"
    r"|[\"“][^\"”]{6,}[\"”],?\s(?:said|says|wrote|is\swhat|as\s\w+\s(?:says|said|puts)|he\s|she\s"
    r"|they\s)|^[\"“][^\"”]*[\"”]?\.?$|\bas\sthe\s(?:saying|joke|song)\sgoes\b|\band\si\squote\b|,\s(?:and\s)?(?:i\s)?quote[,:]?\s?[\"“‘]"
    r"|\b(?!i\b|we\b)[\w’']+\s(?:goes|went|is\slike|was\slike|was\sall),?\s[\"“‘'](?=\w)",
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
    r"dying|finished|magic|obsolete|genius|silly|ridiculous|over)\b",
    re.IGNORECASE,
)
# "I once read that cows have best friends" tells of cows, and of nobody.
_READ = re.compile(
    r"^(?:(?:and|but|so|well|oh)\s)?i(?:['’]ve)?\s(?:(?:once|just|also|recently)\s)*read\s(?:(?:once|somewhere|online|recently)\s)*that\s"
    r"(?!(?:my|our|i|we)\b)(?:[\w’'-]+\s){1,5}(?:is|are|was|were|has|have|can|do|does|will|should)\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"^(?:my|our|the|a|his|her|some)\s(?:[\w-]+\s){1,2}(?:always\s)?(?:says|said)\s", re.IGNORECASE
)
# What a text, a broadcast or somebody unnamed holds, and what happens in a story.
_MEDIUM = (
    r"(?:articles?|blogs?|papers?|newspapers?|headlines?|news|radio|telly|tv|posts?|threads?|podcasts?|"
    r"videos?|films?|movies?|books?|novels?|songs?|posters?|signs?|ads?|adverts?|brochures?|leaflets?|"
    r"flyers?|magazines?|horoscopes?|fortune\scookies?|reddit|twitter|tiktok|youtube|linkedin|"
    r"facebook|wikipedia|forums?|internet|reviewers?|studies|study|memes?)"
)
_FROM_A_MEDIUM = re.compile(
    rf"\b{_MEDIUM}(?:\s[\w’'-]+){{0,4}}?\s(?:says?|said|claims?|claimed|promis(?:es|ed)|"
    rf"recommends?|recommended|reads|told|tells|warns?|warned|argues?|calls?|is\sfull\sof)\b"
    rf"|^(?:in|on|from)\s(?:the|a|that|this|some)?\s?{_MEDIUM}\b[^.]{{0,30}}\b(?:says?|said|they|he|she|"
    rf"somebody|someone)\b|\b(?:i\s)?(?:just\s)?(?:read|saw|heard)\s(?:somewhere|online|on\s\w+)\s"
    rf"(?:that\s)?|\b(?:read|saw|there(?:['’]s|\swas|\sis))\s(?:an?|some|this)\s(?:\w+\s)?{_MEDIUM}\b.*"
    rf"(?:\bthat\b|[\"“:])",
    re.IGNORECASE,
)
_UNNAMED = re.compile(
    r"^(?:(?:and|but|so|well)\s)?(?:a\sfriend\sof\sa\sfriend|(?:a|an|some|this|one)\s(?:[\w-]+\s){0,2}"
    r"(?:guy|bloke|man|woman|lady|stranger|person|influencer|expert|colleague|friend|dude|"
    r"someone|consultant|passer-by|customer|commenter|user)|somebody|someone|people|everybody|everyone|they\sall)"
    r"(?:\s(?:on|at|in|from)\s(?:\w+\s){1,3}?)?\s?(?:says?|said|told|tells|claims?|recommends?|recommended|"
    r"swears|thinks|suggested|suggests|reckons|wrote)\b",
    re.IGNORECASE,
)
# Any report of a third person's words; what it tells as a matter of fact is kept.
_REPORT = re.compile(
    r"^(?:according\sto\s(?!the\s(?:contract|plan|law|policy|manual|docs|rules|logs?|invoice|schedule|"
    r"calendar|spec)\b)[^,]{2,30},|as\s(?:my|our|the)\s[\w’'-]+\s(?:put\sit|says|said|used\sto\ssay),|"
    r"(?!(?:i|we|you|it|the\s(?:contract|policy|manual|docs|rules?|law|log|spec|plan|invoice|quote|receipt))\b)"
    r"(?:[\w’'-]+\s){1,6}?(?:(?:has|have|had|always|still|just|once|also|even|often|keeps?)\s){0,2}"
    r"(?:says?|said|tells?|told|texts|texted|announces|announced|claims?|claimed|explains|explained|believes?|"
    r"believed|(?:is|are|was)\sconvinced|raves?|raved|insists?|insisted|promises|promised|warns|warned|preach(?:es|ed)|"
    r"jokes|joked|complains|complained|swears|swore|assures|assured|reminds|reminded|shouts|shouted|saying|"
    r"telling|mentions|mentioned|feels|felt)\b(?:\s(?:to\s)?(?:me|us|everyone|everybody|them|him|her|you))?\s?[:,]?\s?(?:that\s|how\s|about\s)?)"
    r"(?P<what>.+)$",
    re.IGNORECASE,
)
# "Kim called our logo a sad potato", "he compares it to spaghetti".
_VERDICT_OF = re.compile(
    r"^(?!(?:i|we|you)\b)(?:[\w’'-]+\s){1,5}?(?:called|calls|described|describes|compared|compares)\s.{3,60}?\s"
    r"(?:an?\s|as\s|to\s|the\s(?:best|worst))",
    re.IGNORECASE,
)
_MATTER_OF_FACT = re.compile(
    r"\d|\b(?:I|we)\b|(?i:\b(?:must|ha(?:s|ve)\sto|needs?|should|deadline|due|ready|allergic|closed|open|may\snot|"
    r"cannot|can['’]t|won['’]t|only|no|wants?|next|until|before|after|tomorrow|today|out\sof|allowed|"
    r"my|our|leaving|leaves|pregnant|approved|signed|booked|cancelled)\b)|"
    r"(?i:\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)|(?<=\s)[A-Z]\w"
)


_NAMED_AFTER = re.compile(r"\d|\b(?:is|are|was|were)\scalled\b", re.IGNORECASE)


def is_quote(*, text: str) -> bool:
    """Whether a sentence passes on what others, or the agent it is said to, say or believe.

    What somebody named tells as a matter of fact, with a date, a figure or a name, is no such.
    """
    quoting = (
        _SAID_QUOTE, _DIRECT_SPEECH, _OPINION_OF_OTHERS, _SAID_OPINION, _FROM_A_MEDIUM, _UNNAMED,
    )  # fmt: skip
    if any(pattern.search(text) for pattern in quoting) or is_agents_word(text=text):
        return True
    if _VERDICT_OF.match(text) and not _NAMED_AFTER.search(text):
        return True
    if _READ.match(text):
        return True
    told = _REPORT.match(text)
    if told and not _MATTER_OF_FACT.search(told.group("what")):
        return True
    return bool(_REPORTED.match(text)) and not _MATTER_OF_FACT.search(text)
