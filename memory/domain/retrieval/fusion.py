"""Relevance of candidates, fused from words, meaning, names, time and surroundings."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from memory.domain.retrieval.question import TOLD_DAYS, Asked, Term, closeness
from memory.domain.scoring import Flags, Floats, Parts

Whole = NDArray[np.int64]

# The share of a signal that reaches a memory so many messages away. Two statements out of one
# message stand apart on purpose, so they share less than neighbours do.
SHARES = (0.5, 0.9, 0.6, 0.3)
REACH = len(SHARES) - 1
NO_CONVERSATION = -1


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Pairs of candidates near each other in a conversation, and what each gives the other."""

    one: Whole
    other: Whole
    share: Floats

    def strongest(self, values: Floats) -> Floats:
        """Each row's own value, not negative, or the largest share of a neighbour's, by column."""
        spread = values.copy()
        shares = self.share if values.ndim == 1 else self.share[:, None]
        np.maximum.at(spread, self.one, shares * values[self.other])
        np.maximum.at(spread, self.other, shares * values[self.one])
        return spread


def find_surroundings(*, conversation: Whole, position: Whole) -> Surroundings:
    """Neighbours by conversation (-1: none) and position of the message."""
    order = np.lexsort((position, conversation))
    ones, others, shares = [], [], []
    table = np.array(SHARES)
    for step in range(1, len(order)):
        left, right = order[:-step], order[step:]
        apart = position[right] - position[left]
        near = (
            (conversation[left] == conversation[right])
            & (conversation[left] != NO_CONVERSATION)
            & (apart <= REACH)
        )
        if not near.any():  # then nobody further along is near either
            break
        ones.append(left[near])
        others.append(right[near])
        shares.append(table[apart[near]])
    if not ones:
        empty = np.zeros(0, dtype=np.int64)
        return Surroundings(empty, empty, np.zeros(0))
    return Surroundings(np.concatenate(ones), np.concatenate(others), np.concatenate(shares))


# What each part of relevance counts; a part the question does not ask for is left out, and that of
# a person counts as much more as few of the candidates are theirs.
WEIGHTS = {"words": 1.0, "meaning": 1.25, "person": 0.5, "time": 0.5}
_DAY_SECONDS = 86_400.0
# Of meaning, the share that a memory's neighbours may lend it.
LENT_MEANING = 0.4
# What a memory in which somebody is mentioned has of a memory by or about them.
MENTIONED = 0.3
# An episode holds many words, of which a statement beside it says one thing whole.
TOLD_AS_WHOLE = 0.8
# A message is worth less as evidence the fewer words to look for it has, so that greetings and
# thanks stand behind statements: one of so many counts in full, one without any half.
WHOLE_FROM = 4
# What an agent says tells less of a person than what the person says.
OF_AN_AGENT = 0.9


@dataclass(frozen=True, slots=True)
class Rarity:
    """Of `total` visible memories, how many hold each term, and whether somebody is called so."""

    total: int
    matching: Whole
    naming: Whole

    def idf(self) -> Floats:
        """Returns the inverse document frequency of each term; an unseen one weighs most."""
        return inverse_frequency(self.matching, self.total)


def inverse_frequency(seen: Whole, total: int) -> Floats:
    """Returns ln(1 + (N - n + ½) / (n + ½)) after Robertson and Zaragoza 2009."""
    counted = np.minimum(seen, total)
    idf: Floats = np.log1p((total - counted + 0.5) / (counted + 0.5))
    return idf


@dataclass(frozen=True, slots=True)
class Candidates:
    """The data of n candidates from the database, for t terms; every array has n rows.

    `matches` and `names` (n × t): the term is in the text, or is a name of a person the memory is
    by or about. `cosine` is NaN without a vector. `conversation` numbers the conversations, -1 for
    none; `position` is that of the first source message. Times are seconds of the epoch, NaN where
    unknown: when it was said, and from when until when it held. `is_episode` says which tell a
    sitting of talk as a whole, `evidence` (0-1) what each is worth by its kind and length.
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
    evidence: Floats


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
    shares: Floats


def evidence_of(*, words: int, is_of_agent: bool) -> float:
    """Returns what a message of so many words to look for is worth as evidence, ½ to 1."""
    share = 0.5 + 0.5 * min(words, WHOLE_FROM) / WHOLE_FROM
    return share * OF_AN_AGENT if is_of_agent else share


def fuse(*, asked: Asked, rarity: Rarity, candidates: Candidates) -> Relevance:
    """The relevance of every candidate; the columns of both arrays are the terms of `asked`."""
    around = find_surroundings(conversation=candidates.conversation, position=candidates.position)
    people = people_among(asked.terms, rarity)
    own_words, words = _words(candidates, rarity.idf(), people, around)
    own_meaning, meaning = _meaning(candidates, around)
    person = _person(candidates, people)
    time = _time(candidates, asked)
    counted = {name: WEIGHTS[name] for name in ("words", "meaning")}
    if people.any():
        counted["person"] = WEIGHTS["person"] * _rarity_of(candidates.names[:, people])
    if asked.periods:
        counted["time"] = WEIGHTS["time"]
    total = sum(counted.values())
    share = {name: weight / total for name, weight in counted.items()}
    lent = share["words"] * (words - own_words) + share["meaning"] * (meaning - own_meaning)
    added = {
        "words": share["words"] * own_words,
        "meaning": share["meaning"] * own_meaning,
        "neighbours": np.maximum(lent, 0.0),
        "person": share.get("person", 0.0) * person,
        "time": share.get("time", 0.0) * time,
    }
    shares = np.array([added[part.name] for part in fields(Parts)]) * candidates.evidence
    answer = shares * TOLD_AS_WHOLE
    if asked.periods and all(term.of_time for term in asked.terms):
        # Whatever was done then is what an episode tells: it answers as far as its time fits.
        answer = np.zeros_like(shares)
        answer[[part.name for part in fields(Parts)].index("time")] = time
    shares = np.where(candidates.is_episode, answer, shares)
    score = np.clip(shares.sum(axis=0), 0.0, 1.0)
    return Relevance(score, words, meaning, person, time, shares)


def people_among(terms: tuple[Term, ...], rarity: Rarity) -> Flags:
    """Returns the terms that name a person: written as a name, and borne by some memory."""
    may_name = np.array([term.may_name for term in terms], dtype=bool)
    found: Flags = may_name & (rarity.naming > 0)
    return found


def _rarity_of(names: Flags) -> float:
    named = np.array([names.any(axis=1).sum()])
    return float(inverse_frequency(named, len(names))[0])


def _words(
    candidates: Candidates, idf: Floats, people: Flags, around: Surroundings
) -> tuple[Floats, Floats]:
    """The share of the question's rarity that the text covers, and with its neighbours, discounted.

    Term by term the nearest text that has it counts, so that question and answer, said in
    different messages, find each other.
    """
    # Who it is about is a signal of its own; alone, a name is all there is to look for.
    sought = ~people if (~people).any() else np.ones_like(people)
    weight = idf[sought]
    if not weight.sum():
        nothing = np.zeros(len(candidates.cosine))
        return nothing, nothing
    own = candidates.matches[:, sought].astype(np.float64)
    rarity_share = weight / weight.sum()
    alone: Floats = own @ rarity_share
    share: Floats = around.strongest(own) @ rarity_share
    return np.clip(alone, 0.0, 1.0), np.clip(share, 0.0, 1.0)


def _meaning(candidates: Candidates, around: Surroundings) -> tuple[Floats, Floats]:
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
    """Returns local times where the question is asked; a midnight is a day, the same everywhere."""
    return np.where(times % _DAY_SECONDS == 0, times, times + ahead)
