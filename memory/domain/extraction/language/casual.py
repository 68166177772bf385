"""Casual spelling written out, so that the rules know the words: "i", "dont", "pls"."""

from __future__ import annotations

import re

_SPELT = {
    "i": "I", "im": "I'm", "ive": "I've", "pls": "please", "plz": "please", "dont": "don't",
    "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't", "arent": "aren't", "wasnt": "wasn't",
    "werent": "weren't", "havent": "haven't", "hasnt": "hasn't", "hadnt": "hadn't",
    "couldnt": "couldn't", "wouldnt": "wouldn't", "shouldnt": "shouldn't", "cant": "can't",
    "theres": "there's", "thats": "that's", "whats": "what's", "shes": "she's", "hes": "he's",
    "youre": "you're", "theyre": "they're", "weve": "we've", "theyve": "they've",
    "youve": "you've", "bday": "birthday", "tmrw": "tomorrow", "tmr": "tomorrow",
    "tomorow": "tomorrow", "thx": "thanks", "cuz": "because", "coz": "because", "cos": "because",
    "gf": "girlfriend", "bf": "boyfriend", "rly": "really", "ur": "your", "yr": "your",
    "wfh": "work from home", "tho": "though", "luv": "love", "luvs": "loves", "luved": "loved",
    "ppl": "people", "thru": "through", "tonite": "tonight", "wknd": "weekend",
    "appt": "appointment", "abt": "about", "bc": "because", "becuz": "because",
    "atm": "at the moment",
}  # fmt: skip
_WORDS = re.compile(
    rf"(?<![\w'’./@:=-])(?:{'|'.join(sorted(_SPELT, key=len, reverse=True))})"
    r"(?![\w/@:=]|['’-]\w\w\w|\.\w)",
    re.IGNORECASE,
)
_I = re.compile(r"(?<![\w'’./@:=-])i(?=['’](?:m|ve|ll|d)\b|\s)")


def written_out(*, text: str) -> str:
    """The text with casual spellings as they are usually written; names and codes stay."""

    def spelt(match: re.Match[str]) -> str:
        word = match.group()
        if word.isupper() and len(word) > 1:
            return word
        # A dotted capital I or a long s is found as well, and is no spelling of these.
        full = _SPELT.get(word.lower(), word)
        return full[:1].upper() + full[1:] if word[0].isupper() else full

    return _I.sub("I", _WORDS.sub(spelt, text))
