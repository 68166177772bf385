"""Memories and messages with their scores, as search and retrieval return them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from memory.api.contradictions import ContradictionSerializer
from memory.api.fields import (
    NameField,
    OneOfField,
    PartField,
    QuestionField,
    StrictBooleanField,
    StrictFloatField,
    StrictIntegerField,
)
from memory.api.memories import MemorySerializer, memory_json
from memory.api.rendering import Json, text_of, time_of
from memory.api.schemas import (
    MAX_TOKEN_BUDGET,
    PER_REQUEST,
    ApiSerializer,
    QuerySerializer,
    StrictSerializer,
)
from memory.domain.levels import Level as TextLevel
from memory.domain.packing import MINIMUM_BUDGET
from memory.domain.talk import SPEAKING_ROLES
from memory.models import Contradiction
from memory.models.memory import MEMORY_TYPES
from memory.reading.answers import RetrievalStats, ScoredMemory
from memory.reading.messages import ScoredMessage
from memory.reading.questions import Level
from teams.domain.agent_document import RetrievalWeights

# Those that a score is made of.
SIGNALS = ("semantic", "recency", "importance", "continuity", "relation", "usage", "prefetched")
LEVELS = [(level.value, level.value) for level in Level]
TEXT_LEVELS = [(level.value, level.value) for level in TextLevel]
RAW = [("raw", "raw")]
BRIEF, FULL = "brief", "full"
ONLY_FULL = [(FULL, FULL)]
SPEAKERS = [(role, role) for role in SPEAKING_ROLES]
INCLUDE_COLD = (
    "true: cold memories and past ones (superseded, archived) too. When left out, or false, only"
    " live ones."
)
INCLUDE_RAW = (
    "Messages are ranked together with memories; false: memories alone. When left out, messages"
    " come unless types, categories or filters narrow the memories, without the last ones of the"
    " conversation that is asked in; true: all of them, always. With a user, what this person and"
    " the team's other agents told each other is among them, unless it was told in confidence."
)


_RELEVANCE = (
    "The least relevance (0-1) of what is told: how much of the question a memory or message says,"
    " as in signals.semantic. When left out, a search and a query cut nothing, and a prompt"
    " includes the 20 most relevant and what is at least 0.35 times as relevant as the best."
    " threshold is another name of it."
)
BELOW = (
    "How many candidates were left out because they say less about the question than min_score, or"
    " without one than a prompt asks."
)


class SearchQuerySerializer(QuerySerializer):
    """The question to search for, and filters of the memories."""

    aliases = {"top_k": "limit", "memory_type": "memory_types", "threshold": "min_score"}

    query = QuestionField()
    memory_types = serializers.ListField(child=OneOfField(choices=MEMORY_TYPES), required=False)
    agent = NameField(required=False)
    user = NameField(required=False, max_length=200)
    project = NameField(required=False)
    min_importance = serializers.IntegerField(required=False, default=1, min_value=1, max_value=10)
    include_cold = serializers.BooleanField(required=False, help_text=INCLUDE_COLD)
    include_raw = serializers.BooleanField(required=False, help_text=INCLUDE_RAW)
    min_score = serializers.FloatField(
        required=False, min_value=0, max_value=1, help_text=_RELEVANCE
    )
    limit = serializers.IntegerField(required=False, default=20, min_value=1, max_value=PER_REQUEST)


class ReadOptionsSerializer(StrictSerializer):
    """The caller, the question and the options of every read."""

    aliases = {"budget_tokens": "token_budget", "top_k": "limit", "threshold": "min_score"}

    agent = NameField(help_text="Who asks; only what this agent may read is found.")
    query = QuestionField()
    user = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="Narrows to what is about this person or about nobody. Where neither it nor a"
        " conversation names a person, user_profile memories are left out and warnings say so.",
    )
    project = NameField(required=False, allow_null=True)
    conversation = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="Where it is asked: it gives the user and the project, and a prompt its summary.",
    )
    thread_id = NameField(
        required=False,
        allow_null=True,
        max_length=200,
        help_text="The conversation's thread id, instead of its id; requires user.",
    )
    token_budget = StrictIntegerField(
        required=False,
        allow_null=True,
        min_value=MINIMUM_BUDGET,
        max_value=MAX_TOKEN_BUDGET,
        help_text="Tokens that the answer may take; the agent's own budget (2000) if omitted."
        " budget_tokens is another name of it.",
    )
    limit = StrictIntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=PER_REQUEST,
        help_text="The most memories and messages, beside identity and pinned memories in a prompt,"
        " which always come. When left out, 10 in a query, and in a prompt as many as the token"
        " budget holds. top_k is another name of it.",
    )
    memory_types = serializers.ListField(
        child=OneOfField(choices=MEMORY_TYPES),
        required=False,
        allow_null=True,
        help_text="Only memories of these types, beside identity and pinned memories in a prompt."
        " Messages are then searched only with include_raw.",
    )
    weights = PartField(
        RetrievalWeights,
        required=False,
        allow_null=True,
        help_text="Of the five signals. When left out, the agent's own in a prompt, and in a query"
        " those of a search, where relevance decides.",
    )
    min_score = StrictFloatField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=1,
        help_text=f"{_RELEVANCE} In a prompt, identity, pinned memories and, in its layer 4, the"
        " user's profile come whatever is asked, and in retrieve what was predicted as likely.",
    )
    include_cold = StrictBooleanField(required=False, help_text=INCLUDE_COLD)
    include_raw = StrictBooleanField(required=False, help_text=INCLUDE_RAW)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("thread_id") is not None:
            if attrs.get("conversation") is not None:
                raise serializers.ValidationError(
                    {"thread_id": ["Give either conversation or thread_id."]}
                )
            if attrs.get("user") is None:
                raise serializers.ValidationError(
                    {"thread_id": ["Give the user whose thread it is."]}
                )
        return attrs


class RetrieveSerializer(ReadOptionsSerializer):
    """A question of an agent, and what the answer may hold and take."""

    example = {
        "agent": "kyra",
        "user": "sarah",
        "query": "What does Sarah drink?",
        "token_budget": 500,
        "limit": 10,
    }

    return_ = OneOfField(
        choices=[BRIEF, FULL],
        required=False,
        default=BRIEF,
        help_text="`full`: all fields of memories, messages and contradictions, and all signals.",
    )


class PartsSerializer(ApiSerializer):
    """The parts of relevance that add up to `semantic` (apart from rounding)."""

    words = serializers.FloatField(help_text="Shared with the question, weighted by rarity.")
    meaning = serializers.FloatField(help_text="Similarity of the text's vector to the question's.")
    neighbours = serializers.FloatField(help_text="For relevant ones near it in its conversation.")
    person = serializers.FloatField(
        help_text="Whether it is by or about the person named in the question; the fewer candidates"
        " are, the more it adds."
    )
    time = serializers.FloatField(help_text="How close it is to the time asked about.")


class SignalsSerializer(ApiSerializer):
    """A memory's score: five signals, each 0-1, the parts of `semantic`, and what adds."""

    semantic = serializers.FloatField()
    recency = serializers.FloatField()
    importance = serializers.FloatField()
    continuity = serializers.FloatField()
    relation = serializers.FloatField()
    cosine = serializers.FloatField(help_text="Cosine similarity of its vector and the question's.")
    lexical = serializers.FloatField(
        help_text="The share of the question's words, by rarity, found in it and its neighbours."
    )
    usage = serializers.FloatField(
        help_text="How often it was cited where it was told, -1 to 1; 0 where nobody said. It adds"
        " at most 0.03 to the score, or takes as much away."
    )
    prefetched = serializers.FloatField(
        help_text="The chance, 0-1, at which POST /v1/context/predict put it into the hot tier for"
        " this reader; it adds at most 0.05 to the score."
    )
    parts = PartsSerializer()


class FoundMemorySerializer(MemorySerializer):
    """A memory with its score 0-1 and the signals behind it."""

    level = serializers.ChoiceField(choices=LEVELS, help_text="Past memories come from cold.")
    score = serializers.FloatField()
    signals = SignalsSerializer()


class PackedMemorySerializer(FoundMemorySerializer):
    """A memory in a prompt, with the tokens it takes there."""

    tokens = serializers.IntegerField()
    text_level = serializers.ChoiceField(
        choices=TEXT_LEVELS,
        help_text="How much of its text the prompt tells: what does not fit whole is told by its"
        " summary or its compressed text.",
    )


class FoundMessageSerializer(ApiSerializer):
    """A message that was found directly: no higher-ranked memory says the same."""

    id = serializers.UUIDField()
    level = serializers.ChoiceField(choices=RAW, help_text="Always raw: a message, not a memory.")
    conversation = serializers.UUIDField(source="conversation_id")
    position = serializers.IntegerField(help_text="In its conversation.")
    role = serializers.ChoiceField(choices=SPEAKERS)
    speaker = serializers.CharField(help_text="The name of the person or agent who said it.")
    said_at = serializers.DateTimeField()
    external_id = serializers.CharField(allow_null=True)
    content = serializers.CharField(
        source="text",
        help_text="What was said, without memory that was quoted, and with secrets masked; the"
        " conversation has every word.",
    )
    score = serializers.FloatField(help_text="0-1, on the same scale as memories.")
    signals = SignalsSerializer()


class PackedMessageSerializer(FoundMessageSerializer):
    """A message quoted in a prompt, with the tokens that its line takes there."""

    tokens = serializers.IntegerField()


class SearchSerializer(ApiSerializer):
    """Search results, best first; `level` says where each was found: raw is a message."""

    results = serializers.SerializerMethodField()
    searched = serializers.ListField(child=serializers.ChoiceField(choices=LEVELS))
    below_min_score = serializers.IntegerField(source="stats.below_min_score", help_text=BELOW)
    warnings = serializers.ListField(child=serializers.CharField())

    @extend_schema_field(
        PolymorphicProxySerializer(
            component_name="Found",
            serializers=[FoundMemorySerializer, FoundMessageSerializer],
            resource_type_field_name=None,
            many=True,
        )
    )
    def get_results(self, answer: Any) -> list[dict[str, Any]]:
        return [
            found_memory_json(each) if isinstance(each, ScoredMemory) else found_message_json(each)
            for each in answer.results
        ]


class StatsSerializer(ApiSerializer):
    """The cost of a read."""

    tokens_used = serializers.IntegerField()
    token_budget = serializers.IntegerField()
    token_counter = serializers.CharField(help_text="estimate (characters / 3.5) or tiktoken.")
    signals_hit = serializers.DictField(child=serializers.IntegerField())
    cache_hit = serializers.BooleanField()
    total_ms = serializers.FloatField()
    steps_ms = serializers.DictField(child=serializers.FloatField())
    searched = serializers.ListField(child=serializers.ChoiceField(choices=LEVELS))
    below_min_score = serializers.IntegerField(help_text=BELOW)


class RetrievalStatsSerializer(StatsSerializer):
    """Figures about a retrieval."""

    warnings = serializers.ListField(child=serializers.CharField())


class _BriefSerializer(ApiSerializer):
    id = serializers.UUIDField()
    content = serializers.CharField(
        help_text="As the prompt tells it: of what does not fit whole a summary or an excerpt."
    )
    score = serializers.FloatField(help_text="0-1, to four decimals.")
    signals = serializers.DictField(
        child=serializers.FloatField(),
        help_text=f"Those of {', '.join(SIGNALS)} that are not 0, to two decimals.",
    )


class BriefMemorySerializer(_BriefSerializer):
    """A memory in a prompt; `GET /v1/memories/{id}` has the rest."""

    text_level = serializers.ChoiceField(
        choices=TEXT_LEVELS, help_text="Which of its versions the prompt tells."
    )
    memory_type = serializers.ChoiceField(choices=MEMORY_TYPES)


class BriefMessageSerializer(_BriefSerializer):
    """A message quoted in a prompt."""

    speaker = serializers.CharField(help_text="The name of the person or agent who said it.")
    said_at = serializers.DateTimeField()


class BriefContradictionSerializer(ApiSerializer):
    """Two memories that conflict; null as `id` if it was only noticed now."""

    id = serializers.UUIDField(allow_null=True)
    memory_a = serializers.UUIDField()
    memory_b = serializers.UUIDField(allow_null=True)
    verdict = serializers.CharField()


class _RetrievalSerializer(ApiSerializer):
    formatted_prompt = serializers.CharField(
        help_text='A line has the person\'s own name, if known, where the memory says "User".'
    )
    stats = RetrievalStatsSerializer()


class RetrievalSerializer(_RetrievalSerializer):
    """Memories and messages within the budget, and the prompt made of them."""

    return_ = serializers.ChoiceField(choices=[BRIEF])
    memories = BriefMemorySerializer(many=True)
    messages = BriefMessageSerializer(many=True, help_text="Where no better memory says the same.")
    contradictions = BriefContradictionSerializer(many=True)


class FullRetrievalSerializer(_RetrievalSerializer):
    """The same with all fields, for `return: full`."""

    return_ = serializers.ChoiceField(choices=ONLY_FULL)
    memories = PackedMemorySerializer(many=True)
    messages = PackedMessageSerializer(many=True)
    contradictions = ContradictionSerializer(many=True)


def found_memory_json(found: ScoredMemory) -> Json:
    """A found memory as `FoundMemorySerializer` describes it."""
    return {
        **memory_json(found.memory),
        "level": found.level.value,
        "score": found.score,
        "signals": found.signals,
    }


def packed_memory_json(found: ScoredMemory) -> Json:
    """A memory in a prompt as `PackedMemorySerializer` describes it."""
    return {
        **found_memory_json(found),
        "tokens": found.tokens,
        "text_level": found.text_level.value,
    }


def found_message_json(found: ScoredMessage) -> Json:
    """A found message as `FoundMessageSerializer` describes it."""
    return {
        "id": str(found.id),
        "level": Level.RAW.value,
        "conversation": str(found.conversation_id),
        "position": found.position,
        "role": found.role,
        "speaker": found.speaker,
        "said_at": time_of(found.said_at),
        "external_id": found.external_id,
        "content": found.text,
        "score": found.score,
        "signals": found.signals,
    }


def packed_message_json(found: ScoredMessage) -> Json:
    """A message quoted in a prompt as `PackedMessageSerializer` describes it."""
    return {**found_message_json(found), "tokens": found.tokens}


def brief_memory_json(found: ScoredMemory) -> Json:
    """A memory in a prompt as `BriefMemorySerializer` describes it."""
    told = found.shorter or found.memory.content
    return {
        **_brief(found, told),
        "text_level": found.text_level.value,
        "memory_type": found.memory.memory_type,
    }


def brief_message_json(found: ScoredMessage) -> Json:
    """A message quoted in a prompt as `BriefMessageSerializer` describes it."""
    return {
        **_brief(found, found.quote),
        "speaker": found.speaker,
        "said_at": time_of(found.said_at),
    }


def brief_contradiction_json(row: Contradiction) -> Json:
    """A contradiction as `BriefContradictionSerializer` describes it."""
    return {
        "id": text_of(row.pk),
        "memory_a": str(row.memory_a_id),
        "memory_b": text_of(row.memory_b_id),
        "verdict": row.verdict,
    }


def _brief(found: ScoredMemory | ScoredMessage, told: str) -> Json:
    signals = {name: round(getattr(found.signals, name), 2) for name in SIGNALS}
    return {
        "id": str(found.id),
        "content": told,
        "score": round(found.score, 4),
        "signals": {name: value for name, value in signals.items() if value},
    }


def stats_json(stats: RetrievalStats, *, without: str) -> Json:
    """Returns the stats without the figure that their answer does not show."""
    return {name: value for name, value in asdict(stats).items() if name != without}
