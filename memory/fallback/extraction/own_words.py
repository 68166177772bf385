"""What of a message are its writer's own words: no code, no quotation, nothing pasted."""

from __future__ import annotations

import re
from functools import cache

from memory.domain.prompt_guards import is_command, without_rendered_memory
from memory.domain.secrets import mask_private_keys
from memory.domain.text.sentences import split_sentences

from ..lexicon import table
from .grammar import CLOSED, GREETINGS, words_of

MAX_CHARS = 32_000
_LONGEST_SENTENCE = 600
_FEWEST_QUOTED_WORDS = 4
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\|).*$", re.MULTILINE)
_QUOTATION = re.compile(r"\"(?P<straight>[^\"]{2,2000})\"|“(?P<curved>[^”“]{2,2000})(?:”|\Z)")
_ASKED_FOR = re.compile(
    r"\b(?:translat\w*|summari[sz]\w*|proofread\w*|rephras\w*|rewrit\w*|reword\w*|paraphras\w*|"
    r"correct|spell\w*|shorten\w*|explain\w*|improv\w*|polish\w*|edit|check|grammar|tone|"
    r"what\sdoes|tl;?dr|make\ssense|sounds?\s(?:better|ok|right|fine|good)|reply|draft|review|"
    r"read\sthis|look\sat\sthis|format|answer\sto|respond|convert|fix)\b",
    re.IGNORECASE,
)
_PASTED = re.compile(
    r"(?P<head>[^\n]{0,160}?[:?.!])[ \t]*(?:\n+|(?=[\"“']))(?P<body>.+)", re.DOTALL
)
_SAID_BY_OTHERS = re.compile(
    r"\b(?:from\s(?:our|my|the|an?)\s[\w\s]{2,25}|(?:says?|said|wrote|writes|reads?|goes|quote|"
    r"just\scame|came\sin|got\sthis|forwarded|mail|e-?mail|message|letter|text|post|note))\b"
    r"[^.!?\n]{0,30}:\s*$",
    re.IGNORECASE,
)
_SAYS_ANYTHING = re.compile(r"[^\W_]")
_WORD = re.compile(r"(?<!\w)[A-Za-z']+(?!\w)")


@cache
def _written_out() -> dict[str, str]:
    return {row[0][0]: row[1][0] for row in table("talk/casual").rows if len(row) > 1}


def written_out(text: str) -> str:
    """Casual spellings written out ("dont", "gonna"), with the capital kept.

    A lone capital is left where it belongs to a name ("U Kotvy", "Plan U").
    """
    forms = _written_out()

    def replaced(match: re.Match[str]) -> str:
        word = match.group()
        put = forms.get(word.lower())
        if put is None or (word.isupper() and len(word) > 1):
            return word
        in_name = match.start() > 0 or text[match.end() + 1 : match.end() + 2].isupper()
        if word.isupper() and in_name:
            return word
        return put.capitalize() if word[0].isupper() else put

    return _WORD.sub(replaced, text)


def own_sentences(content: str) -> tuple[list[str], bool]:
    """The sentences of a user's message in their own words, and whether any gave it orders.

    A message in which a sentence tries to steer the memory or the agent's rules keeps only what
    stands before that sentence.
    """
    text = _own_text(mask_private_keys(text=without_rendered_memory(text=content[:MAX_CHARS])))
    found: list[str] = []
    for line in split_sentences(text):
        sentence = written_out(" ".join(line.text.split()))
        if is_command(text=sentence):
            return found, True
        if _SAYS_ANYTHING.search(sentence) and len(sentence) <= _LONGEST_SENTENCE:
            found.append(sentence)
    return [each for each in found if not is_foreign(each)], False


def plain_sentences(content: str) -> list[str]:
    """The sentences of a message of an agent or a tool."""
    text = _FENCE.sub(" ", without_rendered_memory(text=content[:MAX_CHARS]))
    sentences = [" ".join(each.text.split()) for each in split_sentences(text)]
    return [each for each in sentences if each and len(each) <= _LONGEST_SENTENCE]


def is_foreign(text: str) -> bool:
    """Whether hardly any word of a longer sentence is one of English's closed classes."""
    words = [word for word in words_of(text) if word[0].isalpha()]
    known = sum(word in CLOSED or word in GREETINGS for word in words)
    letters = sum(char > "\u024f" for char in text)
    return (len(words) > 5 and known < 0.12 * len(words)) or letters > 0.3 * len(text)


def _own_text(text: str) -> str:
    text = _QUOTED_LINE.sub(" ", _FENCE.sub(" ", text.replace("’", "'")))
    pasted = _PASTED.match(text)
    if pasted and _ASKED_FOR.search(pasted["head"]):
        return pasted["head"]
    task = _ASKED_FOR.search(text[:80]) is not None
    return _QUOTATION.sub(lambda found: _quoted(found, text, task), text)


def _quoted(found: re.Match[str], text: str, task: bool) -> str:
    """A short quotation is a name or a wording; a long one is somebody else's words."""
    said = found["straight"] or found["curved"] or ""
    words = len(said.split())
    others = _SAID_BY_OTHERS.search(text[max(0, found.start() - 80) : found.start()])
    if words >= _FEWEST_QUOTED_WORDS and (task or others or words > 7):
        return " "
    return found.group()
