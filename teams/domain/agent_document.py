"""An agent's identity document (seed 000, AgentDNA, sections 3A, 3B and 3C)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    TypeAdapter,
    field_validator,
    model_serializer,
    model_validator,
)

from .documents import Part, Text, likely_meant, listed, once, refuse

TIERS = ("fast", "balanced", "powerful")
# A prompt is built with at least so many tokens; the floor of the memory's packing.
LEAST_TOKEN_BUDGET = 100
MOST_TOKEN_BUDGET = 1_000_000
MAX_WEIGHT = 1000
MOST_PRESERVED = 100
MAX_OWN_FIELDS = 30
MAX_FOCUS_CHARS = 2_000
_SKILLS = 200


def _number(given: object) -> object:
    if isinstance(given, bool) or not isinstance(given, int | float | Decimal):
        raise ValueError("Must be a number.")
    return Decimal(str(given))


_LINE_CHARS = 2_000
Line = Annotated[str, Text(_LINE_CHARS)]
Item = Annotated[str, Text(_LINE_CHARS, is_required=True)]
Instructions = Annotated[str, Text(20_000, has_lines=True)]
Focus = Annotated[str, Text(MAX_FOCUS_CHARS, has_lines=True)]
ModelName = Annotated[str, Text(200)]
SkillName = Annotated[str, Text(100, is_required=True)]
Category = Annotated[str, Text(100, is_required=True)]
# A single one, or a blank text for none.
_Name = Annotated[str, Text(100)]
_Items = Annotated[list[Item], Field(max_length=100)]
Lines = Annotated[
    _Items,
    BeforeValidator(partial(listed, most=_LINE_CHARS), json_schema_input_type=_Items | Line),
]
_Names = Annotated[list[SkillName], Field(max_length=_SKILLS)]
SkillNames = Annotated[_Names, BeforeValidator(listed, json_schema_input_type=_Names | _Name)]
_Categories = Annotated[list[Category], Field(max_length=200)]
Categories = Annotated[
    _Categories, BeforeValidator(listed, json_schema_input_type=_Categories | _Name)
]
Weight = Annotated[float, Field(ge=0, le=MAX_WEIGHT)]
Share = Annotated[float, Field(ge=0, le=1)]
Tier = Literal["fast", "balanced", "powerful"]
Budget = Annotated[
    Decimal,
    Field(ge=0, le=1_000_000, decimal_places=6),
    BeforeValidator(_number, json_schema_input_type=Annotated[float, Field(ge=0, le=1_000_000)]),
    PlainSerializer(float),
]
Price = Annotated[
    Decimal,
    Field(ge=0, le=1_000, decimal_places=9),
    BeforeValidator(_number, json_schema_input_type=Annotated[float, Field(ge=0, le=1_000)]),
    PlainSerializer(float),
]

_OwnText = Annotated[str, Field(max_length=2_000)]
_TEXT: TypeAdapter[str] = TypeAdapter(Annotated[str, Text(2_000, has_lines=True)])
_LINES: TypeAdapter[list[str]] = TypeAdapter(_Items)


def _own_field(value: object) -> object:
    if isinstance(value, bool | int | float) and abs(value) < 10**15:
        return value
    if isinstance(value, str):
        return _TEXT.validate_python(value)
    if isinstance(value, list):
        return _LINES.validate_python(value)
    raise ValueError("Must be a text, a number, true or false, or a list of texts.")


OwnField = Annotated[
    Any,  # what `_own_field` lets pass
    PlainValidator(
        _own_field,
        json_schema_input_type=Annotated[str, Field(max_length=2_000)]
        | float
        | bool
        | _Items
        | None,
    ),
]


class _WithOwnFields(Part):
    """An object that may hold fields of its author's own beside those of the template."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, OwnField] = Field(init=False)

    @model_validator(mode="before")
    @classmethod
    def _check_own_fields(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return given
        given = {name: each for name, each in given.items() if each is not None}
        known: list[str] = []
        for name, info in cls.model_fields.items():
            choices = info.validation_alias
            names = choices.choices if isinstance(choices, AliasChoices) else [name]
            known += map(str, names)
            for other in map(str, names[1:]):
                if name in given and other in given:
                    raise refuse(f"It means the same as {name}; give one of them.", other)
        own = [str(name) for name in given if name not in known]
        if len(own) > MAX_OWN_FIELDS:
            raise ValueError(f"It may have at most {MAX_OWN_FIELDS} fields of its own.")
        for name in own:
            if (meant := likely_meant(name, known)) is not None:
                raise refuse(f"There is no such field; did you mean '{meant}'?", name)
            if not name.strip() or len(name) > 60 or not name.isprintable():
                words = "Names of fields have 1 to 60 characters, none of them a control character."
                raise refuse(words, name)
        return given


class Personality(_WithOwnFields):
    """The agent's personality; fields of your own hold a text, a number or a list of texts."""

    traits: Lines = Field(default=[], validation_alias=AliasChoices("traits", "personality_traits"))
    """For example: curious, patient."""
    tone: Line = ""
    """For example: warm."""
    verbosity: Line = ""
    """For example: brief."""
    formality: Line = ""
    """For example: casual."""
    voice_examples: Lines = Field(
        default=[], validation_alias=AliasChoices("voice_examples", "examples")
    )
    """Sample sentences in the agent's voice."""
    custom_instructions: Instructions = ""
    """Added to the prompt word for word."""


class Rules(_WithOwnFields):
    """Rules the agent always or never follows; rule kinds of your own hold lists of texts."""

    always: Lines = []
    """What the agent always does."""
    never: Lines = []
    """What the agent never does."""
    custom_instructions: Instructions = Field(default="", title="Further rules")
    """Added to the prompt word for word."""


class Skill(Part):
    """A skill, as the prompt lists it; a plain text is its name."""

    name: SkillName
    description: Line = ""

    @model_validator(mode="before")
    @classmethod
    def _of_name(cls, given: object) -> object:
        if isinstance(given, str):
            return {"name": given}
        if not isinstance(given, Mapping | Skill):
            raise ValueError('Give a name, or an object such as {"name": "…", "description": "…"}.')
        return given

    @model_serializer
    def _short(self) -> object:
        return (
            {"name": self.name, "description": self.description} if self.description else self.name
        )


def _skills(given: object) -> object:
    if not isinstance(given, Mapping):
        return listed(given)
    for name, about in given.items():
        if about is not None and not isinstance(about, str):
            raise refuse("Must be a text.", str(name))
    return [{"name": name, "description": about} for name, about in given.items()]


_SkillList = Annotated[list[Skill], Field(max_length=_SKILLS)]
SkillList = Annotated[
    _SkillList,
    BeforeValidator(
        _skills,
        json_schema_input_type=Annotated[list[Skill | SkillName], Field(max_length=_SKILLS)]
        | Annotated[dict[str, str | None], Field(max_length=_SKILLS)]
        | SkillName,
    ),
]


class Skills(Part):
    """The agent's skills; the prompt lists shared and custom ones, without the disabled."""

    shared: SkillList = Field(default=[], title="Shared skills")
    """Skills that several agents have. The description is optional."""
    custom: SkillList = Field(default=[], title="Own skills")
    """Skills that only this agent has."""
    disabled: SkillNames = Field(default=[], title="Disabled skills")
    """Names of skills above to leave out of the prompt."""

    @field_validator("shared", "custom")
    @classmethod
    def _each_once(cls, skills: list[Skill]) -> list[Skill]:
        seen: set[str] = set()
        for place, skill in enumerate(skills):
            if skill.name.casefold() in seen:
                raise refuse(f"The skill '{skill.name}' stands there twice.", place)
            seen.add(skill.name.casefold())
        return skills


class CustomTier(Part):
    """The agent's own model of a tier; prices are USD per 1,000 tokens."""

    name: Tier = Field(title="Tier")
    model_name: Annotated[str, Text(200, is_required=True)] = Field(title="Model")
    cost_per_1k_input: Price = Field(title="USD per 1,000 input tokens")
    cost_per_1k_output: Price = Field(title="USD per 1,000 output tokens")


class ModelConfig(Part):
    """The agent's model and its budget."""

    enable_model_routing: bool = Field(default=True, title="Model routing")
    """On: the model is chosen for each question. Off: the agent always uses the model below."""
    model_name: ModelName = Field(default="", title="Model")
    """The model to use when routing is off."""
    force_tier: Tier | None = Field(default=None, title="Fixed tier")
    """Always use a model of this tier."""
    max_tier: Tier | None = Field(default=None, title="Highest tier")
    """Never use a model of a higher tier."""
    custom_tiers: list[CustomTier] = Field(default=[], max_length=len(TIERS), title="Own models")
    """Replace the team's models: one for each tier that the agent may use."""
    daily_budget_usd: Budget | None = Field(default=None, title="Daily budget (USD)")
    """Maximum model cost of this agent per day, in the team's time zone. Without it, only the
    budgets of the person and the team apply."""
    monthly_budget_usd: Budget | None = Field(default=None, title="Monthly budget (USD)")
    """Maximum model cost of this agent per month."""

    @model_validator(mode="after")
    def _check_tiers(self) -> Self:
        """Refuses what no choice could satisfy: the seed's rules 1, 4 and 5 of the router."""
        own = [tier.name for tier in self.custom_tiers]
        for place, name in enumerate(own):
            if name in own[:place]:
                raise refuse(f"The tier '{name}' stands there twice.", "custom_tiers")
        if own and self.force_tier is not None and self.force_tier not in own:
            words = f"It must be one of the custom tiers: {', '.join(own)}; or leave them out."
            raise refuse(words, "force_tier")
        if self.max_tier is not None:
            most = TIERS.index(self.max_tier)
            if own and all(TIERS.index(name) > most for name in own):
                words = "No custom tier is as low as that; raise it or add a cheaper tier."
                raise refuse(words, "max_tier")
            if self.force_tier is not None and TIERS.index(self.force_tier) > most:
                words = f"It is above max_tier, '{self.max_tier}'; leave one of them out."
                raise refuse(words, "force_tier")
        return self


class RetrievalWeights(Part):
    """The weight of each signal; a missing one keeps its default; not all may be zero."""

    semantic: Weight = 0.6
    """Similarity to the question in words and meaning."""
    recency: Weight = 0.1
    """Age: newer memories score higher."""
    importance: Weight = 0.15
    """Importance of the memory."""
    continuity: Weight = 0.1
    """Origin in the current conversation."""
    relation: Weight = 0.05
    """Links to other memories that were found."""

    @model_validator(mode="after")
    def _not_all_zero(self) -> Self:
        if not any(dict(self).values()):
            raise ValueError("The weights must not all be zero.")
        return self


SIGNALS = tuple(RetrievalWeights.model_fields)


class Shares(Part):
    """Shares of a package's budget; at most 1 together. A tier that is left out reserves none."""

    task: Share = Field(default=0.0, title="Task share")
    """For items of the task."""
    project: Share = Field(default=0.0, title="Project share")
    """For memories of the project."""
    everything: Share = Field(default=0.0, title="Share of everything else", alias="global")
    """For memories outside the task and its project."""

    @property
    def in_order(self) -> tuple[float, float, float]:
        """The shares of task, project and all else."""
        return self.task, self.project, self.everything

    @model_validator(mode="after")
    def _at_most_all(self) -> Self:
        if sum(dict(self).values()) > 1 + 1e-9:
            raise ValueError("The shares must not add up to more than 1.")
        return self


class ContextPolicy(Part):
    """The shares of a package's budget; 40, 40 and 20 per cent by default."""

    shares: Shares = Shares(task=0.4, project=0.4, **{"global": 0.2})
    """Shares of the task, its project and everything else. Unused budget goes to the best of the
    remaining items."""
    head_tail_preserve: Annotated[int, Field(ge=0, le=MOST_PRESERVED)] = Field(
        default=0, title="First and last items"
    )
    """Number of first and of last items that are always included, in full."""


class MemoryConfig(Part):
    """Settings for reading and filling the agent's memory."""

    token_budget: Annotated[int, Field(ge=LEAST_TOKEN_BUDGET, le=MOST_TOKEN_BUDGET)] = 2000
    """Maximum tokens of a prompt."""
    summarize_interval: Annotated[int, Field(ge=1, le=10_000)] | None = Field(
        default=None, title="Messages between extractions"
    )
    """Number of messages after which memories are extracted; the server's default if empty. An
    idle conversation is extracted earlier."""
    extraction_instructions: Focus = ""
    """What to look for and what to leave out when memories are extracted from what is said to this
    agent, beside the team's own instructions. Only a language model reads them."""
    keeps_to_itself: bool = Field(default=False, title="Private memory")
    """On: other agents do not see what this agent learns in conversations. Off: the team's agents
    share what they learn about a person."""
    allowed_categories: Annotated[Categories, AfterValidator(once)] = Field(
        default=[], title="Allowed categories"
    )
    """Categories that the agent may read; an empty list means all."""
    retrieval_weights: RetrievalWeights = RetrievalWeights()
    """Only the ratio of the weights matters."""
    context_policy: ContextPolicy = ContextPolicy()
    """Settings of POST /v1/context/package."""


class AgentDocument(Part):
    """An agent's whole document; omitted fields take their defaults."""

    name: Annotated[str, Text(200, is_required=True)]
    """The name that the agent uses for itself in its prompt."""
    tagline: Annotated[str, Text(300)] = ""
    """A short description, for example: a research assistant."""
    personality: Personality = Personality()
    rules: Rules = Rules()
    skills: Skills = Skills()
    model: ModelConfig = Field(default=ModelConfig(), alias="model_config")
    memory: MemoryConfig = Field(default=MemoryConfig(), alias="memory_config")
