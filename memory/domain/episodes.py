"""Episodes and insights as the writers know them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

from memory.domain.judgements import shared_words, weighed_words
from memory.domain.prompt_guards import is_command, without_rendered_memory
from memory.domain.rendering import beginning
from memory.domain.secrets import MASK
from memory.domain.talk import fitting
from memory.domain.text.words import split_sentences
from memory.domain.types import Asker, Point

FEWEST_MESSAGES = 4
"""Two exchanges: of less, the memories made of it tell all there is."""

TITLE_CHARS = 80
NARRATIVE_TOKENS = 200
# A sentence tells something with so many uncommon words, long ones or names, and an episode with so
# many sentences.
_TELLING_WORDS, _UNCOMMON, _FEWEST_SENTENCES = 4, 4, 3
_LONGEST_SENTENCE = 400
_MOST_READ, _SENTENCES_A_MESSAGE = 4_000, 10
# So many of the best are compared with each other, so that none says again what another says.
_COMPARED = 40
# What an agent says is mostly about what the person said.
_OF_AGENT = 0.7
_SAME_MATTER = 0.5


@dataclass(frozen=True, slots=True)
class Told:
    """A message of a sitting as an episode may tell it: without secrets and injected memory."""

    id: UUID
    speaker: str
    text: str
    said_at: datetime
    is_persons: bool


@dataclass(frozen=True, slots=True)
class Sitting:
    """The messages of one sitting, what memories were made of them, and who pays for its telling.

    `points` are memories that rest on the messages. Where the sitting was compacted they sum it up
    (`is_summed_up`), and the episode tells them and not the messages again.
    """

    told: tuple[Told, ...]
    points: tuple[Point, ...]
    asker: Asker
    is_summed_up: bool = False


@dataclass(frozen=True, slots=True)
class WrittenEpisode:
    """An episode: a title of at most 80 characters, its text, and the messages that it tells."""

    title: str
    narrative: str
    message_ids: tuple[UUID, ...]
    writer: str


def cut_into_sittings(
    said: Sequence[tuple[int, datetime]], *, rest: timedelta, most: int
) -> list[tuple[int, int]]:
    """Messages by position and time as ranges (first, last) between which nobody spoke for `rest`.

    A range of `most` messages ends there, however soon the next one follows.
    """
    starts = [at for at in range(len(said)) if at == 0 or said[at][1] - said[at - 1][1] >= rest]
    ranges: list[tuple[int, int]] = []
    for start, end in zip(starts, [*starts[1:], len(said)], strict=True):
        ranges += [
            (said[at][0], said[min(end, at + most) - 1][0]) for at in range(start, end, most)
        ]
    return ranges


class RulesEpisodes:
    """The `EpisodeWriter` that needs no model."""

    name = "rules"

    def write(self, sitting: Sitting) -> WrittenEpisode | None:
        """Writes the earlier summary, else the sentences that share most with the rest."""
        if sitting.is_summed_up:
            points = fitting(sitting.points, max_tokens=NARRATIVE_TOKENS)
            if not points:
                return None
            best, ids = _most(points).text, tuple(each.id for each in sitting.told)
            narrative = " ".join(point.text for point in points)
            return WrittenEpisode(_title(best), narrative, ids, self.name)
        chosen = _chosen(sitting)
        if not chosen:
            return None
        best = _most([each.point for each in chosen]).text
        narrative, speaker = "", ""
        for each in chosen:
            label = "" if each.message.speaker == speaker else f"{each.message.speaker}: "
            narrative += f" {label}{each.point.text}"
            speaker = each.message.speaker
        ids = tuple(dict.fromkeys(each.message.id for each in chosen))
        return WrittenEpisode(_title(best), narrative.strip(), ids, self.name)


@dataclass(frozen=True, slots=True)
class _Sentence:
    point: Point
    message: Told


def has_substance(sitting: Sitting) -> bool:
    """Returns whether a sitting has three sentences of four uncommon words, one a person's."""
    if len(sitting.told) < FEWEST_MESSAGES or not any(each.is_persons for each in sitting.told):
        return False
    if sitting.is_summed_up:
        return bool(sitting.points)
    return len(telling_sentences(sitting)) >= _FEWEST_SENTENCES


def telling_sentences(sitting: Sitting) -> list[tuple[str, Told]]:
    """The sentences that state something, each with its message; ten of a message at most.

    None that asks, is a courtesy, gives orders to the memory or held a secret.
    """
    return [
        (text, message)
        for message in sitting.told
        for text in islice(_statements(message.text[:_MOST_READ]), _SENTENCES_A_MESSAGE)
    ]


def _statements(text: str) -> Iterator[str]:
    for sentence in split_sentences(without_rendered_memory(text=text)):
        is_question = sentence.rstrip("\"'”’)").endswith("?")
        if (
            len(sentence) <= _LONGEST_SENTENCE
            and _is_telling(sentence)
            and not is_question
            and MASK not in sentence
            and not is_command(text=sentence)
        ):
            yield sentence


def _is_telling(text: str) -> bool:
    return sum(weight >= _UNCOMMON for weight in weighed_words(text).values()) >= _TELLING_WORDS


def _chosen(sitting: Sitting) -> list[_Sentence]:
    sentences = telling_sentences(sitting)
    said_in = Counter(word for each in sitting.told for word in weighed_words(each.text))
    scores = [_score(text, message, said_in, sitting.points) for text, message in sentences]
    order = sorted(range(len(sentences)), key=lambda at: -scores[at])
    kept: list[int] = []
    for at in order[:_COMPARED]:
        words = weighed_words(sentences[at][0]).keys()
        others = [weighed_words(sentences[other][0]).keys() for other in kept]
        if not any(words <= other or other <= words for other in others):
            kept.append(at)
    # Ranks as the importance of points: from 10 for the best down to 1.
    rank = {at: 10 - 9 * place // max(1, len(kept) - 1) for place, at in enumerate(kept)}
    found = [
        _Sentence(Point(text, rank[at], message.said_at), message)
        for at, (text, message) in enumerate(sentences)
        if at in rank
    ]
    labelled = [
        replace(each.point, text=f"{each.message.speaker}: {each.point.text}") for each in found
    ]
    fits = {id(point) for point in fitting(labelled, max_tokens=NARRATIVE_TOKENS)}
    return [each for each, point in zip(found, labelled, strict=True) if id(point) in fits]


def _score(text: str, message: Told, said_in: Mapping[str, int], points: Sequence[Point]) -> float:
    """Scores a sentence by the recurring words in it, and by the memories made of it.

    Rare words that several messages have count most, by the logarithm of how many do; a sentence of
    twice as many words is not worth twice as much.
    """
    words = weighed_words(text)
    shared = sum(weight * math.log(said_in[word]) for word, weight in words.items())
    own = sum(words.values()) / 10
    score = (shared + own) / math.sqrt(len(words))
    noted = max(
        (each.importance for each in points if shared_words(each.text, text) >= _SAME_MATTER),
        default=0,
    )
    return score * (1 + noted / 10) * (1.0 if message.is_persons else _OF_AGENT)


def _most(points: Sequence[Point]) -> Point:
    return max(points, key=lambda point: point.importance)


def _title(sentence: str) -> str:
    return beginning(sentence, longest=TITLE_CHARS - 2).rstrip(".")


MOST_INSIGHTS = 3
MOST_CHARS = 280
MOST_ACTIVITIES, MOST_FACTS, TALK_CHARS = 5, 3, 1_000

CATEGORY = "relationship_dynamic"
IMPORTANCE = 4
"""Two on the seed's scale of 1 to 5, doubled."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A memory as evidence: its text, when it was said, and in which conversation."""

    id: UUID
    text: str
    said_at: datetime
    conversation_id: UUID | None = None
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts known of a person, latest first; times are on the clock of the team.

    `activities` (5 at most) happened, `facts` (3 at most) were learned lately, `talk` are the last
    words of at most 1,000 characters with the messages `talk_ids`. What is counted: `recent`
    memories, `changes` (versions of a preference, oldest first), and at what times the person spoke
    (`spoke_at`, each with its message). `names` are of those who talk.
    """

    person: str
    asker: Asker
    activities: tuple[Noted, ...] = ()
    facts: tuple[Noted, ...] = ()
    talk: str = ""
    talk_ids: tuple[UUID, ...] = ()
    recent: tuple[Noted, ...] = ()
    changes: tuple[tuple[Noted, ...], ...] = ()
    spoke_at: tuple[tuple[datetime, UUID], ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenInsight:
    """An insight of at most 280 characters, what it rests on, and who wrote it.

    `topic` is what it is about, by which a later one of the same is known; "" where nothing says.
    One that `is_news` takes the place of what was said of its topic at once.
    """

    text: str
    writer: str
    memory_ids: tuple[UUID, ...] = ()
    message_ids: tuple[UUID, ...] = ()
    topic: str = ""
    is_news: bool = False
    tags: tuple[str, ...] = ()
