"""Whether words tell of a team and of nobody in it: by their subject, in English.

Precise rather than complete: what is not said of the team in so many words is the person's.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import dropwhile, islice

from memory.domain.text.normalise import name_words
from memory.domain.text.sentences import split_sentences
from memory.domain.text.stop_words import STOP_WORDS, word_set
from memory.domain.text.verb_forms import stem

# Nouns of a workplace that are a team's, whoever says them.
_OF_A_WORKPLACE = word_set(
    """
    boardroom colleague colleagues company coworker coworkers department departments employees
    engineering headquarters hq hr management office offices onboarding payroll personnel
    receptionist squad staff team teammates teams workplace
    """
)
# What a team does together: "we" with one of these speaks as the team.
_OF_WORK = word_set(
    """
    backlog changelog ci codebase deploy deployed deploying deployment deployments deploys
    helpdesk hotfix hotfixes on-call oncall postmortem postmortems releases repo repository
    retros retrospective retrospectives roadmap rollout rollouts runbook runbooks sprint sprints
    staging stand-up stand-ups standup standups timesheet timesheets
    """
)
# A team's where it is called ours; alone they may be anybody's.
_WHERE_OURS = word_set(
    """
    backend backups board client clients cluster customer customers dashboard database databases
    frontend incident incidents invoices milestone milestones monitoring newsletter pipeline
    pipelines production release retro server servers supplier suppliers support vendor vendors
    wiki
    """
)
_DETERMINERS = word_set("all each every our the")
_EVERYBODY = word_set("anybody anyone everybody everyone people nobody")
_PLACES = word_set("across at for from in inside of on within")
# Whoever is meant by these is a person.
_PERSONS = word_set(
    """
    he her hers herself him himself his i i'd i'll i'm i've me mine my myself she you your yours
    yourself
    """
)
# What belongs to somebody's own life, however it is said.
_PRIVATE = word_set(
    """
    addiction affair alcoholic allergic allergy anniversary anxiety apartment babies baby band
    basketball bedroom birthday bonus boyfriend brother burnout cancer cat child childcare
    children choir cousin crush dad daughter debt debts depressed depression diagnosed diagnosis
    disability disabled disease divorce divorced divorcing doctor dog drinking families family
    father fiance fiancee fired flat football funeral garden girlfriend grandfather grandmother
    handball health hockey holiday-home home honeymoon hospital house household husband ill
    illness kid kids kitchen laid-off landlord league marriage married match maternity mom
    mortgage mother mum neighbor neighbors neighbour neighbours nephew niece operation parents
    partner paternity pay-cut pet pregnancy pregnant probation promoted promotion quit raise
    rehab relationship relatives religion rent resign resigned resigning rugby salaries salary
    school separated separating sick sister soccer son spouse surgery therapist therapy
    volleyball wages wedding wife
    """
)
_UNSURE = word_set(
    """
    could guess hope hopefully hopes if imagine maybe might perhaps possibly probably suppose
    supposedly thinks unless wish wishes wonder would
    """
)
_OPENERS = word_set(
    """
    actually also and anyway because but by fyi further hey hi however just last note ok okay
    otherwise please remember since so still that then well
    """
)
# By which a speaker says that it is meant for all.
_ALL = (
    r"(?:everybody|everyone|all of (?:us|you)|all (?:staff|colleagues|employees)"
    r"|the (?:whole|entire) (?:team|company|office|department|staff|crew|studio|shop|group)"
    r"|the (?:team|staff|others))"
)
_FOR_ALL = re.compile(
    rf"\b(?:(?:for|to|applies to|holds for|tell|remind|let) {_ALL}"
    r"|(?:one thing|something|a note|note|reminder|announcement|news) (?:for|to) all"
    rf"|{_ALL} (?:should|must|needs? to|has to|have to|ought to) know"
    r"|(?:team|office|company) rules?)(?!\w)"
)
_WORD = re.compile(r"[^\W_]+(?:['.-][^\W_]+)*")
_BREAK = re.compile(r"[,;:]\s|\s[–—-]\s|\bthat\s")
_FEWEST_SHARED = 0.5
_LONGEST_SUBJECT = 4
_MOST_BEFORE = 6


def tells_of_team(sentence: str, *, names: Collection[str] = ()) -> bool:
    """Whether the sentence, as somebody said it, states something of their team.

    Its subject is the team, a part of a workplace, "we" at work, or one of the `names` of the team
    and its projects as they are written; or it says that it is for everybody. Nothing that is
    asked, unsure, or of anybody's own life is.
    """
    text = sentence.replace("’", "'").strip()
    words = _words(text)
    if text.endswith("?") or not words or not _is_public(words):
        return False
    if _FOR_ALL.search(" ".join(text.lower().split())):
        return True
    return any(_is_of_team(text[start:], names) for start in _starts(text))


def told_of_team(
    content: str, *, said: Sequence[str], names: Collection[str] = (), people: Collection[str] = ()
) -> bool:
    """Whether a memory states what its messages `said` of the team, and nothing of a person.

    The sentence it was made of decides, not the memory's own wording. `people` are the names of
    those who talk: a memory that names one of them is theirs.
    """
    mine, words = _content(content), _words(content)
    given = {word.removesuffix("'s") for word in words}
    if not mine or not _is_public(words) or not given.isdisjoint(name_words(people)):
        return False
    sentences = [each.text for text in said for each in split_sentences(text)]
    shares = [len(mine & _content(each)) / len(mine) for each in sentences]
    best = max(shares, default=0.0)
    if best < _FEWEST_SHARED:
        return False
    nearest = [each for each, share in zip(sentences, shares, strict=True) if share == best]
    return all(tells_of_team(each, names=names) for each in nearest)


def names_nobody(content: str, *, people: Collection[str]) -> bool:
    """Whether a memory tells of no person: of none of `people`, nor of anybody's own life."""
    words = _words(content)
    given = {word.removesuffix("'s") for word in words}
    return _is_public(words) and given.isdisjoint({*name_words(people), "user"})


def _is_public(words: Collection[str]) -> bool:
    given = {word.removesuffix("'s") for word in words} | set(words)
    return not any(map(given.intersection, (_PERSONS, _PRIVATE, _UNSURE)))


def _starts(text: str) -> list[int]:
    """Where the subject may begin: at the beginning, or behind a short opening."""
    words = [match.start() for match in islice(_WORD.finditer(text), _MOST_BEFORE + 1)]
    behind: dict[int, int] = {}
    for match in _BREAK.finditer(text):
        before = bisect_left(words, match.start())
        if before > _MOST_BEFORE:
            break
        # Of several with no word between them the last one is the beginning.
        behind[before] = match.end()
    return [0, *behind.values()]


def _is_of_team(text: str, names: Collection[str]) -> bool:
    if any(_begins_with(text, name) for name in names):
        return True
    words = list(dropwhile(_OPENERS.__contains__, _words(text)))
    if not words:
        return False
    if words[0] in _PLACES:
        at = _subject_end(words[1:])
        return at > 0 and words[1 + at : 2 + at] in ([each] for each in ("we", *_EVERYBODY))
    if words[0] in {"we", "we're", "we've", "we'll"}:
        return not _OF_WORK.isdisjoint(words)
    if words[0] in _EVERYBODY or words[:2] == ["no", "one"]:
        behind = words[2:] if words[0] == "no" else words[1:]
        return bool(behind) and behind[0] in _PLACES and _subject_end(behind[1:]) > 0
    is_named = words[0] in _OF_WORK and len(words) > 1  # "Standup is at nine"
    return is_named or _subject_end(words) > 0


def _subject_end(words: Sequence[str]) -> int:
    """How many words a determiner and the nouns of a workplace behind it take; 0 for none."""
    if not words or words[0] not in _DETERMINERS:
        return 0
    is_ours = words[0] == "our" or words[:2] == ["all", "our"]
    nouns = _OF_A_WORKPLACE | _OF_WORK | (_WHERE_OURS if is_ours else frozenset())
    begin = 2 if words[:2] in (["all", "our"], ["all", "the"]) else 1
    end = 0
    for place, word in enumerate(words[begin : begin + _LONGEST_SUBJECT], begin):
        if word in STOP_WORDS:
            break
        if word.removesuffix("'s") in nouns:
            end = place + 1
    return end


def _begins_with(text: str, name: str) -> bool:
    """Whether a proper name opens the text: written as a name, and not as a common word."""
    wanted = name.strip()
    if not wanted or not any(each.isupper() for each in wanted):
        return False
    match = re.match(rf"(?:the\s|our\s)?{re.escape(wanted)}(?!\w)", text, re.IGNORECASE)
    return match is not None and wanted in text[: match.end()]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.replace("’", "'").lower())


def _content(text: str) -> set[str]:
    words = {word.removesuffix("'s") for word in _words(text)} - STOP_WORDS - {"team"}
    return {stem(word) for word in words}
