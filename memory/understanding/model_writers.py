"""Levels, summaries, episodes and insights by a language model, each held to its sources.

Where a model gives nothing usable, the rules write instead; insights are then left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel

from memory.domain.episodes import (
    MOST_CHARS,
    MOST_INSIGHTS,
    TITLE_CHARS,
    Evidence,
    Noted,
    RulesEpisodes,
    Sitting,
    WrittenEpisode,
    WrittenInsight,
)
from memory.domain.grounding import UNSAID_WORDS, Grounds, Spoken, ungrounded
from memory.domain.levels import Levels, LongText, RulesLevels, WrittenLevels, checked_levels
from memory.domain.prompt_guards import is_command, without_rendered_memory
from memory.domain.rendering import escaped_line, estimate_tokens
from memory.domain.secrets import mask_secrets
from memory.domain.talk import SUMMARY_TOKENS, RulesSummariser, WrittenSummary, departures, period
from memory.domain.types import Asker, MemoryType, Point
from memory.understanding.asked_model import AskedModel, prompt_text
from routing.clients.protocol import ChatMessage


class _ModelWriter:
    def __init__(self, model: AskedModel) -> None:
        self.name = model.name
        self._model = model


def _prompt(rules: str, tag: str, lines: Sequence[str]) -> list[ChatMessage]:
    told = "\n".join(lines)
    return [ChatMessage("system", rules), ChatMessage("user", f"<{tag}>\n{told}\n</{tag}>")]


def _fault_of(text: str, spoken: Sequence[Spoken], names: Sequence[str] = ()) -> str:
    if not text.strip():
        return "It must not be empty."
    if is_command(text=text):
        return "It gives orders."
    why = ungrounded(text, grounds=Grounds(sources=spoken, window=spoken, names=names))
    return f"It has {why}." if why else ""


_LEVELS_TOKENS = 200
_LEVELS_RULES = prompt_text("levels")


class ProposedLevels(BaseModel):
    """A model's answer on levels."""

    summary: str
    compressed: str
    index_term: str


def _levels(answer: ProposedLevels) -> Levels:
    return Levels(answer.summary.strip(), answer.compressed.strip(), answer.index_term.strip())


class ModelLevels(_ModelWriter):
    """A `LevelWriter` that asks a model."""

    def write(self, text: LongText) -> WrittenLevels:
        """The model's levels if it holds to the text, else those of the rules."""
        lines = [escaped_line(text.content)]
        if text.payload:
            lines.append(escaped_line(json.dumps(dict(text.payload), ensure_ascii=False)))
        proposed = self._model.ask(
            schema=ProposedLevels,
            prompt=_prompt(_LEVELS_RULES, "statement", lines),
            asker=text.asker,
            answer_tokens=_LEVELS_TOKENS,
            fault=lambda answer: checked_levels(
                _levels(answer), content=text.content, payload=text.payload
            ),
        ).answer
        if proposed is None:
            return RulesLevels().write(text)
        return WrittenLevels(_levels(proposed), self.name)


_SUMMARY_RULES = prompt_text("summary", tokens=SUMMARY_TOKENS - 50)


class ProposedSummary(BaseModel):
    """A model's answer on a conversation."""

    summary: str


class ModelSummariser(_ModelWriter):
    """A `Summariser` that asks a model."""

    def summarise(
        self, *, points: Sequence[Point], since: datetime, until: datetime, asker: Asker
    ) -> WrittenSummary:
        """The model's summary if it holds to the points, else that of the rules."""
        head = period(since, until)
        spoken = [Spoken(each.text, each.said_at) for each in points]

        def fault(answer: ProposedSummary) -> str:
            if estimate_tokens(f"{head} {answer.summary}") > SUMMARY_TOKENS:
                return f"It has more than {SUMMARY_TOKENS - 50} tokens."
            return _fault_of(answer.summary, spoken)

        lines = [
            f"{each.said_at:%Y-%m-%d} importance {each.importance}: {escaped_line(each.text)}"
            for each in points
        ]
        proposed = (
            points
            and self._model.ask(
                schema=ProposedSummary,
                prompt=_prompt(_SUMMARY_RULES, "notes", lines),
                asker=asker,
                answer_tokens=2 * SUMMARY_TOKENS,
                fault=fault,
            ).answer
        )
        if not proposed:
            return RulesSummariser().summarise(points=points, since=since, until=until, asker=asker)
        text = mask_secrets(text=" ".join(proposed.summary.split()))
        return WrittenSummary(f"{head} {text}", self.name)


_EPISODE_TOKENS = 400
_NARRATIVE_CHARS = 1_200
# Of each message and of the whole talk, its last part first.
_MESSAGE_CHARS, _TALK_CHARS = 2_000, 40_000
_EPISODE_RULES = prompt_text("episode", title=TITLE_CHARS, narrative=_NARRATIVE_CHARS)


class ProposedEpisode(BaseModel):
    """A model's answer on a sitting."""

    title: str
    narrative: str


class ModelEpisodes(_ModelWriter):
    """An `EpisodeWriter` that asks a model.

    What was summed up by a compaction before is not told by a model once more.
    """

    def write(self, sitting: Sitting) -> WrittenEpisode | None:
        """The model's episode if it holds to the talk, else that of the rules."""
        proposed = None
        if not sitting.is_summed_up:
            proposed = self._model.ask(
                schema=ProposedEpisode,
                prompt=_prompt(_EPISODE_RULES, "talk", _talk(sitting)),
                asker=sitting.asker,
                answer_tokens=_EPISODE_TOKENS,
                fault=lambda answer: _episode_fault(answer, sitting),
            ).answer
        if proposed is None:
            return RulesEpisodes().write(sitting)
        title, narrative = (
            mask_secrets(text=" ".join(each.split()))
            for each in (proposed.title, proposed.narrative)
        )
        return WrittenEpisode(title, narrative, tuple(each.id for each in sitting.told), self.name)


def _episode_fault(answer: ProposedEpisode, sitting: Sitting) -> str:
    title, narrative = answer.title.strip(), answer.narrative.strip()
    if len(title) > TITLE_CHARS or len(narrative) > _NARRATIVE_CHARS:
        return f"title has at most {TITLE_CHARS}, narrative at most {_NARRATIVE_CHARS} characters."
    spoken = [Spoken(each.text, each.said_at) for each in sitting.told]
    names = sorted({each.speaker for each in sitting.told})
    faults = (_fault_of(text, spoken, names) for text in (title, narrative))
    return next(filter(None, faults), "")


def _talk(sitting: Sitting) -> list[str]:
    lines: list[str] = []
    room = _TALK_CHARS
    for each in reversed(sitting.told):
        text = escaped_line(without_rendered_memory(text=each.text[:_MESSAGE_CHARS]))
        line = f"{each.said_at:%Y-%m-%d %H:%M} {escaped_line(each.speaker)}: {text}"
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    return lines[::-1]


_INSIGHT_TOKENS = 220
_MOST_TAGS, _TAG_CHARS = 3, 30
_INSIGHT_RULES = prompt_text("insight", most=MOST_INSIGHTS, longest=MOST_CHARS, tags=_MOST_TAGS)


class ProposedInsight(BaseModel):
    """One insight of an answer."""

    summary: str
    tags: list[str] = []
    evidence: list[int]


class ProposedInsights(BaseModel):
    """A model's answer on a person; an empty list is a good one."""

    insights: list[ProposedInsight]


class ModelInsights(_ModelWriter):
    """An `InsightWriter` that asks a model.

    What breaks a rule is dropped by itself; the rest of the answer stands.
    """

    def write(self, evidence: Evidence) -> list[WrittenInsight]:
        """The insights of the answer that hold to the rules and name what they rest on."""
        pieces = [*evidence.activities, *evidence.facts]
        if not pieces:
            return []
        lines = [f"The person: {escaped_line(evidence.person)}"]
        lines += [
            f"[{number}] {each.said_at:%Y-%m-%d}: {escaped_line(each.text)}"
            for number, each in enumerate(pieces, 1)
        ]
        if evidence.talk:
            lines.append(f"[{len(pieces) + 1}] said lately: {escaped_line(evidence.talk)}")
        answer = self._model.ask(
            schema=ProposedInsights,
            prompt=_prompt(_INSIGHT_RULES, "evidence", lines),
            asker=evidence.asker,
            answer_tokens=_INSIGHT_TOKENS,
        ).answer
        found = [self._kept(each, evidence, pieces) for each in answer.insights] if answer else []
        return [each for each in found if each is not None][:MOST_INSIGHTS]

    def _kept(
        self, proposed: ProposedInsight, evidence: Evidence, pieces: list[Noted]
    ) -> WrittenInsight | None:
        text = " ".join(proposed.summary.split())
        named = [number for number in dict.fromkeys(proposed.evidence) if number > 0]
        rests_on = tuple(pieces[number - 1].id for number in named if number <= len(pieces))
        with_talk = len(pieces) + 1 in named and evidence.talk
        if not text or len(text) > MOST_CHARS or not (rests_on or with_talk):
            return None
        if is_command(text=text) or mask_secrets(text=text) != text:
            return None
        if departures(text=text, memory_type=MemoryType.INSIGHT):
            return None
        spoken = [Spoken(each.text, each.said_at) for each in pieces]
        spoken.append(Spoken(evidence.talk, max(each.said_at for each in pieces)))
        grounds = Grounds(sources=spoken, window=spoken, names=(evidence.person, *evidence.names))
        if ungrounded(text, grounds=grounds) not in ("", UNSAID_WORDS):
            return None
        tags = [tag.strip()[:_TAG_CHARS] for tag in proposed.tags if tag.strip()]
        return WrittenInsight(
            text,
            self.name,
            memory_ids=rests_on,
            message_ids=evidence.talk_ids if with_talk else (),
            tags=tuple(tags[:_MOST_TAGS]),
        )
