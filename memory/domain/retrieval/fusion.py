"""Signal A: how relevant each candidate is to a question, words, meaning, people and times fused.

The weights were fitted on turns of conversations and checked on others and on distilled facts;
all of them lie on a plateau, where half or double changes little.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from ..scoring import Flags, Floats, Parts
from .events import Placed, place_by_event
from .periods import TOLD_DAYS, closeness
from .question import Asked, Term
from .surroundings import Surroundings, Whole, find_surroundings

# What each part of relevance counts; a part the question does not ask for is left out.
WEIGHTS = {"words": 1.0, "meaning": 1.0, "person": 0.35, "time": 0.5, "event": 0.5}
_DAY_SECONDS = 86_400.0
# Of meaning, the share that a memory's neighbours may lend it.
LENT_MEANING = 0.3
# What a memory in which somebody is mentioned has of a memory by or about them.
MENTIONED = 0.3
# What a word that only dates the question weighs of others, for texts that name the day.
DATING = 0.25
# What lies clearly on the other side of the event that is asked about counts this share.
BEYOND = 0.5
# An episode holds many words, of which a statement beside it says one thing whole.
TOLD_AS_WHOLE = 0.8


@dataclass(frozen=True, slots=True)
class Rarity:
    """Of `total` visible memories, how many hold each term, and how many are of one so called."""

    total: int
    matching: Whole
    naming: Whole

    def idf(self) -> Floats:
        """ln(1 + (N - n + ½) / (n + ½)) after Robertson and Zaragoza 2009; unseen weighs most."""
        seen = np.minimum(self.matching, self.total)
        idf: Floats = np.log1p((self.total - seen + 0.5) / (seen + 0.5))
        return idf


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the database says of n candidates, for t terms; every array has n rows.

    `matches` and `names` (n × t): the term is in the text, or is a name of a person the memory is
    by or about. `cosine` is NaN without a vector. `conversation` numbers the conversations, -1 for
    none; `position` is that of the first source message. Times are seconds of the epoch, NaN where
    unknown: when it was said, and from when until when it held. `is_episode` says which tell a
    sitting of talk as a whole.
    """

    matches: Flags
    names: Flags
    cosine: Floats
    conversation: Whole
    position: Whole
    said_at: Floats
    held_from: Floats
    held_until: Floats
    is_episode: Flags


@dataclass(frozen=True, slots=True)
class Relevance:
    """The parts and the whole, each 0-1, one element for each candidate.

    `shares` has a row for each field of `Parts`: what it adds to the score.
    """

    score: Floats
    words: Floats
    meaning: Floats
    person: Floats
    time: Floats
    event: Floats
    shares: Floats


def fuse(*, asked: Asked, rarity: Rarity, candidates: Candidates) -> Relevance:
    """The relevance of every candidate; the columns of both arrays are the terms of `asked`."""
    asked, rarity, candidates = _with_forms_met(asked, rarity, candidates)
    around = find_surroundings(conversation=candidates.conversation, position=candidates.position)
    people = people_among(asked.terms, rarity)
    dating = np.array([term.of_time for term in asked.terms], dtype=bool)
    own_words, words = _words(
        candidates, rarity.idf() * np.where(dating, DATING, 1.0), people, around
    )
    own_meaning, meaning = _meaning(candidates, around)
    person = _person(candidates, people)
    time = _time(candidates, asked)
    event, beyond = _event(candidates, asked, rarity, people)
    counted = {name: WEIGHTS[name] for name in ("words", "meaning")}
    if people.any():
        counted["person"] = WEIGHTS["person"]
        if dating.any() and (people | dating).all():
            counted["words"] *= DATING
    if asked.periods:
        counted["time"] = WEIGHTS["time"]
    if event.any():
        counted["event"] = WEIGHTS["event"]
    total = sum(counted.values())
    share = {name: weight / total for name, weight in counted.items()}
    lent = share["words"] * (words - own_words) + share["meaning"] * (meaning - own_meaning)
    added = {
        "words": share["words"] * own_words,
        "meaning": share["meaning"] * own_meaning,
        "neighbours": np.maximum(lent, 0.0),
        "person": share.get("person", 0.0) * person,
        "time": share.get("time", 0.0) * time,
        "event": share.get("event", 0.0) * event,
    }
    shares = np.array([added[part.name] for part in fields(Parts)])
    shares *= np.where(beyond, BEYOND, 1.0)
    answer = shares * TOLD_AS_WHOLE
    if asked.of_time_alone:
        # Whatever was done then is what an episode tells: it answers as far as its time fits.
        answer = np.zeros_like(shares)
        answer[[part.name for part in fields(Parts)].index("time")] = time
    shares = np.where(candidates.is_episode, answer, shares)
    score = np.clip(shares.sum(axis=0), 0.0, 1.0)
    return Relevance(score, words, meaning, person, time, event, shares)


def _with_forms_met(
    asked: Asked, rarity: Rarity, candidates: Candidates
) -> tuple[Asked, Rarity, Candidates]:
    """The same without other forms of a word: what holds one of them holds the word."""
    places = {term.word: place for place, term in enumerate(asked.terms) if not term.form_of}
    forms = [
        (place, places[term.form_of])
        for place, term in enumerate(asked.terms)
        if term.form_of in places
    ]
    if not forms:
        return asked, rarity, candidates
    matches, matching = candidates.matches.copy(), rarity.matching.copy()
    for place, word in forms:
        matches[:, word] |= matches[:, place]
        matching[word] += matching[place]
    gone = {place for place, _ in forms}
    kept = [place for place in range(len(asked.terms)) if place not in gone]
    return (
        replace(asked, terms=tuple(asked.terms[place] for place in kept)),
        replace(rarity, matching=matching[kept], naming=rarity.naming[kept]),
        replace(candidates, matches=matches[:, kept], names=candidates.names[:, kept]),
    )


def people_among(terms: tuple[Term, ...], rarity: Rarity) -> Flags:
    """Which terms name a person: written as a name may be, and borne by somebody's memory."""
    may_name = np.array([term.may_name for term in terms], dtype=bool)
    found: Flags = may_name & (rarity.naming > 0)
    return found


def _words(
    candidates: Candidates, weight: Floats, people: Flags, around: Surroundings
) -> tuple[Floats, Floats]:
    """The share of the question's rarity that the text covers, and with its neighbours, discounted.

    Term by term the nearest text that has it counts, so that question and answer, said in
    different messages, find each other.
    """
    # Who it is about is a signal of its own; alone, a name is all there is to look for.
    sought = ~people if (~people).any() else np.ones_like(people)
    idf = weight[sought]
    if not idf.sum():
        nothing = np.zeros(len(candidates.cosine))
        return nothing, nothing
    own = candidates.matches[:, sought].astype(np.float64)
    rarity_share = idf / idf.sum()
    alone: Floats = own @ rarity_share
    share: Floats = around.strongest(own) @ rarity_share
    return np.clip(alone, 0.0, 1.0), np.clip(share, 0.0, 1.0)


def _meaning(candidates: Candidates, around: Surroundings) -> tuple[Floats, Floats]:
    """How near the vector is, and with what its neighbours lend."""
    own = np.clip(np.nan_to_num(candidates.cosine, nan=0.0), 0.0, 1.0)
    meaning: Floats = (1 - LENT_MEANING) * own + LENT_MEANING * around.strongest(own)
    return own, meaning


def _person(candidates: Candidates, people: Flags) -> Floats:
    if not people.any():
        return np.zeros(len(candidates.cosine))
    mentioned = MENTIONED * candidates.matches[:, people]
    person: Floats = np.maximum(candidates.names[:, people], mentioned).max(axis=1)
    return person


def _time(candidates: Candidates, asked: Asked) -> Floats:
    if not asked.periods:
        return np.zeros(len(candidates.cosine))
    said_at = candidates.said_at + asked.ahead
    said = closeness(asked.periods, since=said_at, until=said_at, least_days=TOLD_DAYS)
    held_from = _on_the_clock(candidates.held_from, asked.ahead)
    held_until = _on_the_clock(candidates.held_until, asked.ahead)
    since = np.where(np.isnan(held_from), held_until, held_from)
    until = np.where(np.isnan(held_until), held_from, held_until)
    return np.maximum(said, closeness(asked.periods, since=since, until=until))


def _on_the_clock(times: Floats, ahead: float) -> Floats:
    """What the clock showed then where it is asked; a midnight is a day, the same everywhere."""
    return np.where(times % _DAY_SECONDS == 0, times, times + ahead)


def _event(candidates: Candidates, asked: Asked, rarity: Rarity, people: Flags) -> Placed:
    if asked.side is None:
        nothing = np.zeros(len(candidates.cosine))
        return Placed(nothing, nothing > 0)
    told = np.array([term.of_event for term in asked.terms], dtype=bool)
    # A word that nothing holds tells no memory of the event from another; of a name it is enough
    # that somebody bears it.
    told &= people | (rarity.matching > 0)
    return place_by_event(
        asked.side,
        matches=(candidates.matches | candidates.names & people)[:, told],
        idf=rarity.idf()[told],
        said_at=candidates.said_at,
        happened_at=candidates.held_from,
    )
