"""Agents as documents: what is sent and what is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from drf_spectacular.utils import Direction, extend_schema_field
from rest_framework import serializers

from memory.api.fields import NameField, StrictFloatField, TextField
from memory.api.serializers.base import MAX_TOKEN_BUDGET, ApiSerializer, StrictSerializer
from memory.domain.scoring import Weights
from teams.domain import agent_document
from teams.domain.agent_document import AgentDocument
from teams.domain.checking import DocumentError
from teams.domain.context_policy import MOST_PRESERVED, SUM, exceeds
from teams.domain.memory_config import (
    LEAST_TOKEN_BUDGET,
    MAX_CATEGORIES,
    MAX_CATEGORY_CHARS,
    MAX_WEIGHT,
    MOST_SUMMARIZE_INTERVAL,
)
from teams.domain.model_config import MAX_BUDGET_USD, MAX_MODEL_CHARS, MAX_PRICE_USD, TIERS
from teams.models import Agent

# What an answer says beside the document; sent back with it, it is passed over.
READ_ONLY = ("aliases", "effective_weights", "version", "created_at", "changed_at", "changed_by")
_REASON = NameField(max_length=500, allow_blank=True)
# Whatever stands in the row, which raw SQL may have written.
_STORED_MEMORY = {
    "type": "object",
    "properties": {
        "retrieval_weights": {},
        "token_budget": {"type": "integer"},
        "summarize_interval": {"type": "integer"},
        "allowed_categories": {},
        "keeps_to_itself": {"type": "boolean"},
        "context_policy": {},
    },
}


class LinesField(serializers.ListField):
    """A list of texts of one line, each of at most `max_chars`."""

    def __init__(  # Any: DRF's own options
        self, *, max_chars: int = agent_document.MAX_LINE_CHARS, **kwargs: Any
    ) -> None:
        kwargs = {
            "required": False,
            "allow_null": True,
            "max_length": agent_document.MAX_LINES,
        } | kwargs
        super().__init__(child=NameField(max_length=max_chars), **kwargs)


class LinesInSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """What the schema says of such a list: in a request a single text counts as a list of one.

    A blank one is as if it were left out.
    """

    target_class = LinesField

    def map_serializer_field(self, auto_schema: Any, direction: Direction) -> dict[str, Any]:
        # Any: drf-spectacular's own types
        """The list, or a text like those in it."""
        found = auto_schema._map_serializer_field(self.target, direction, bypass_extensions=True)
        if direction != "request":
            return dict(found)
        listed = found | {"maxItems": self.target.max_length}
        return {"anyOf": [listed, self.single(found["items"])]}

    @staticmethod
    def single(text: dict[str, Any]) -> dict[str, Any]:  # Any: a part of the schema
        """What is said of the one text that may stand for a list of such texts."""
        rest = {key: value for key, value in text.items() if key != "minLength"}
        return rest | {"pattern": rf"{text['pattern']}|^\s*$"}


_LINE: Mapping[str, Any] = {
    "required": False,
    "allow_null": True,
    "allow_blank": True,
    "max_length": agent_document.MAX_LINE_CHARS,
}  # Any: options of a field


class OwnWordsSerializer(ApiSerializer):
    """An object that may hold words of the author's own beside its fields."""


class OwnWordsInSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """What the schema says of the author's own words: a text, a number, a truth value or texts."""

    target_class = OwnWordsSerializer
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Direction) -> dict[str, Any]:
        # Any: drf-spectacular's own types
        """The object with what further fields may hold."""
        found = dict(auto_schema._map_serializer(self.target, direction, bypass_extensions=True))
        if direction == "request":
            lines = next(
                auto_schema._map_serializer_field(each, direction)
                for each in self.target.fields.values()
                if isinstance(each, LinesField)
            )
            text = {"type": "string", "maxLength": agent_document.MAX_LINE_CHARS}
            others = [text, {"type": "number"}, {"type": "boolean"}, *lines["anyOf"][:1]]
            found["additionalProperties"] = {"anyOf": others, "nullable": True}
        return found


class PersonalitySerializer(OwnWordsSerializer):
    """The agent's personality; fields of your own hold a text, a number or a list of texts."""

    traits = LinesField()
    tone = NameField(**_LINE)
    verbosity = NameField(**_LINE)
    formality = NameField(**_LINE)
    voice_examples = LinesField(help_text="Sample sentences in the agent's voice.")
    custom_instructions = TextField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=agent_document.MAX_INSTRUCTION_CHARS,
    )


class RulesSerializer(OwnWordsSerializer):
    """What the agent always and never does; rule kinds of your own hold lists of texts."""

    always = LinesField()
    never = LinesField()


class SkillSerializer(StrictSerializer):
    """A skill, as the prompt lists it; a plain text is its name."""

    name = NameField(max_length=agent_document.MAX_SKILL_NAME_CHARS)
    description = NameField(**_LINE)


class SkillListField(serializers.ListField):
    """A list of skills."""

    child = SkillSerializer()


class SkillListInSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """What the schema says of such a list: in a request it may also be descriptions by name."""

    target_class = SkillListField

    def map_serializer_field(self, auto_schema: Any, direction: Direction) -> dict[str, Any]:
        # Any: drf-spectacular's own types
        """The list, of names too; or an object, whose names no schema bounds; or one name."""
        found = auto_schema._map_serializer_field(self.target, direction, bypass_extensions=True)
        if direction != "request":
            return dict(found)
        name = auto_schema._map_serializer_field(self.target.child.fields["name"], direction) | {
            "maxLength": agent_document.MAX_SKILL_NAME_CHARS
        }
        by_name = {
            "type": "object",
            "maxProperties": agent_document.MAX_SKILLS,
            "additionalProperties": {"type": "string", "nullable": True},
        }
        items = {"anyOf": [found["items"], name]}
        listed = found | {"items": items, "maxItems": agent_document.MAX_SKILLS}
        return {"anyOf": [listed, by_name, LinesInSchema.single(name)]}


_SKILLS: Mapping[str, Any] = {
    "required": False,
    "allow_null": True,
    "max_length": agent_document.MAX_SKILLS,
}  # Any: options of a field


class SkillsSerializer(StrictSerializer):
    """The agent's skills; the prompt lists shared and custom ones, without the disabled."""

    shared = SkillListField(**_SKILLS)
    custom = SkillListField(**_SKILLS)
    disabled = LinesField(
        max_chars=agent_document.MAX_SKILL_NAME_CHARS,
        max_length=agent_document.MAX_SKILLS,
        help_text="Names of skills.",
    )


class CustomTierSerializer(StrictSerializer):
    """The agent's own model of a tier; prices are USD per 1,000 tokens."""

    name = serializers.ChoiceField(choices=TIERS)
    model_name = NameField(max_length=MAX_MODEL_CHARS)
    cost_per_1k_input = serializers.FloatField(min_value=0, max_value=float(MAX_PRICE_USD))
    cost_per_1k_output = serializers.FloatField(min_value=0, max_value=float(MAX_PRICE_USD))


_BUDGET: Mapping[str, Any] = {
    "required": False,
    "allow_null": True,
    "min_value": 0,
    "max_value": float(MAX_BUDGET_USD),
}  # Any: options of a field


class ModelConfigSerializer(StrictSerializer):
    """Which model the agent uses, and what it may spend."""

    enable_model_routing = serializers.BooleanField(
        required=False, allow_null=True, help_text="Default true."
    )
    model_name = NameField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=MAX_MODEL_CHARS,
        help_text="The model to use when routing is off.",
    )
    force_tier = serializers.ChoiceField(choices=TIERS, required=False, allow_null=True)
    max_tier = serializers.ChoiceField(choices=TIERS, required=False, allow_null=True)
    custom_tiers = serializers.ListField(
        child=CustomTierSerializer(), required=False, allow_null=True, max_length=len(TIERS)
    )
    daily_budget_usd = serializers.FloatField(
        **_BUDGET,
        help_text="The agent's own budget; without one only those of the user and the team apply.",
    )
    monthly_budget_usd = serializers.FloatField(**_BUDGET)


_WEIGHT: Mapping[str, Any] = {
    "required": False,
    "allow_null": True,
    "min_value": 0,
    "max_value": MAX_WEIGHT,
}  # Any: options of a field


class RetrievalWeightsSerializer(StrictSerializer):
    """The weight of each signal; a missing one keeps its default; not all may be zero."""

    semantic = serializers.FloatField(**_WEIGHT)
    recency = serializers.FloatField(**_WEIGHT)
    importance = serializers.FloatField(**_WEIGHT)
    continuity = serializers.FloatField(**_WEIGHT)
    relation = serializers.FloatField(**_WEIGHT)


class EffectiveWeightsSerializer(ApiSerializer):
    """The weight of each signal, defaults included."""

    semantic = serializers.FloatField(min_value=0)
    recency = serializers.FloatField(min_value=0)
    importance = serializers.FloatField(min_value=0)
    continuity = serializers.FloatField(min_value=0)
    relation = serializers.FloatField(min_value=0)


class SharesSerializer(StrictSerializer):
    """Shares of a package's budget; at most 1 together. A tier that is left out reserves none."""

    task = StrictFloatField(required=False, min_value=0, max_value=1)
    project = StrictFloatField(required=False, min_value=0, max_value=1)
    global_ = StrictFloatField(required=False, min_value=0, max_value=1)

    def validate(self, attrs: dict[str, float]) -> dict[str, float]:
        """No more than the whole budget."""
        if exceeds(attrs):
            raise serializers.ValidationError(SUM)
        return attrs


_SHARE: dict[str, Any] = {"required": False, "allow_null": True, "min_value": 0, "max_value": 1}


class PolicySharesSerializer(StrictSerializer):
    """Shares as an agent's document states them; null is as if it were left out."""

    task = serializers.FloatField(**_SHARE)
    project = serializers.FloatField(**_SHARE)
    global_ = serializers.FloatField(**_SHARE)


class ContextPolicySerializer(StrictSerializer):
    """How the budget of a package is shared out; 40, 40 and 20 per cent by default."""

    shares = PolicySharesSerializer(required=False, allow_null=True)
    head_tail_preserve = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=MOST_PRESERVED
    )


class MemoryConfigSerializer(StrictSerializer):
    """How the agent's memory is read and filled."""

    retrieval_weights = RetrievalWeightsSerializer(required=False, allow_null=True)
    token_budget = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=LEAST_TOKEN_BUDGET,
        max_value=MAX_TOKEN_BUDGET,
        help_text="For a prompt's memories; 2000 by default.",
    )
    summarize_interval = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MOST_SUMMARIZE_INTERVAL,
        help_text="Messages between two extractions.",
    )
    allowed_categories = LinesField(
        max_chars=MAX_CATEGORY_CHARS,
        max_length=MAX_CATEGORIES,
        help_text="Which categories it may read; an empty list means all.",
    )
    keeps_to_itself = serializers.BooleanField(
        required=False,
        allow_null=True,
        help_text="True: what it learns in talk belongs to it alone, and no other agent is told."
        " By default the team's agents share what they learn about a person.",
    )
    context_policy = ContextPolicySerializer(
        required=False, allow_null=True, help_text="Of POST /v1/context/package."
    )


class AgentDocumentSerializer(StrictSerializer):
    """An agent's whole document; omitted fields take their defaults."""

    name = NameField(max_length=agent_document.MAX_NAME_CHARS)
    tagline = NameField(**{**_LINE, "max_length": agent_document.MAX_TAGLINE_CHARS})
    personality = PersonalitySerializer(required=False, allow_null=True)
    rules = RulesSerializer(required=False, allow_null=True)
    skills = SkillsSerializer(required=False, allow_null=True)
    model_config = ModelConfigSerializer(required=False, allow_null=True)
    memory_config = MemoryConfigSerializer(required=False, allow_null=True)
    reason = serializers.CharField(
        required=False, max_length=500, help_text="Why it was changed; stored with the new version."
    )

    def to_internal_value(self, data: Any) -> dict[str, Any]:  # Any: whatever the body holds
        """The document and the reason, checked by the rules that hold for every writer."""
        given = dict(data) if isinstance(data, Mapping) else data
        reason = ""
        problems: dict[str, Any] = {}
        if isinstance(given, dict):
            for name in READ_ONLY:
                given.pop(name, None)
            slugs = self.context["slugs"]
            if "slug" in given and given.pop("slug") not in slugs:
                problems["slug"] = ["It names another agent than the address does."]
            try:
                reason = _REASON.run_validation(given.pop("reason", ""))
            except serializers.ValidationError as error:
                problems["reason"] = error.detail
        try:
            document = AgentDocument.validate(given)
        except DocumentError as error:
            problems |= {
                place or "non_field_errors": said for place, said in error.problems.items()
            }
        if problems:
            raise serializers.ValidationError(problems)
        return {"document": document, "reason": reason}


class AgentSerializer(ApiSerializer):
    """An agent's current document and its version."""

    slug = serializers.CharField()
    aliases = serializers.ListField(
        source="other_names",
        child=serializers.CharField(),
        help_text="Further names by which requests may call it; edited in the admin.",
    )
    name = serializers.CharField()
    tagline = serializers.CharField()
    personality = serializers.JSONField()
    rules = serializers.JSONField()
    skills = serializers.JSONField()
    model_config = serializers.JSONField()
    memory_config = serializers.SerializerMethodField()
    effective_weights = serializers.SerializerMethodField(
        help_text="The weights its reads use, defaults included; null if its own cannot be used."
    )
    version = serializers.IntegerField(help_text="1 for the first; also the ETag, in quotes.")
    created_at = serializers.DateTimeField()
    changed_at = serializers.DateTimeField(help_text="When this version was created.")
    changed_by = serializers.CharField()

    @extend_schema_field(_STORED_MEMORY)
    def get_memory_config(self, agent: Agent) -> dict[str, Any]:
        """What stands in columns of their own."""
        return {
            "retrieval_weights": agent.retrieval_weights,
            "token_budget": agent.token_budget,
            "summarize_interval": agent.summarize_interval,
            "allowed_categories": agent.allowed_categories,
            "keeps_to_itself": agent.keeps_to_itself,
            "context_policy": agent.context_policy,
        }

    @extend_schema_field(EffectiveWeightsSerializer(allow_null=True))
    def get_effective_weights(self, agent: Agent) -> dict[str, float] | None:
        """All five."""
        try:
            return asdict(Weights.from_config(agent.retrieval_weights))
        except (AttributeError, TypeError, ValueError):  # raw SQL may have written it
            return None


class AgentVersionSerializer(ApiSerializer):
    """One version of an agent's document."""

    version = serializers.IntegerField(source="number")
    changed_at = serializers.DateTimeField(source="created_at")
    changed_by = serializers.CharField(source="actor")
    reason = serializers.CharField()
    document = serializers.JSONField(help_text="As GET returns it, without the version.")
