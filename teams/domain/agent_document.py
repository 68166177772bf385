"""An agent's identity document: who it is, how it talks, what it can, which model and memory.

It is seed 000's AgentDNA as its sections 3A (the personality template), 3B and 3C use it. What is
checked here is what a person writes; what is stored is given back as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .agent_parts import read_personality, read_rules, read_skills
from .checking import Checked
from .memory_config import MemoryConfig
from .model_config import ModelConfig

MAX_NAME_CHARS = 200
MAX_TAGLINE_CHARS = 300

_FIELDS = (
    "name",
    "tagline",
    "personality",
    "rules",
    "skills",
    "model_config",
    "memory_config",
)


@dataclass(frozen=True, slots=True)
class AgentDocument:
    """An agent's whole identity document; its JSON parts are as the agent's row holds them."""

    name: str
    tagline: str = ""
    personality: Mapping[str, object] = field(default_factory=dict)
    rules: Mapping[str, object] = field(default_factory=dict)
    skills: Mapping[str, object] = field(default_factory=dict)
    model: ModelConfig = field(default_factory=ModelConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)

    @classmethod
    def validate(cls, value: object) -> AgentDocument:
        """The document that a person wrote; what it leaves out has its default.

        Raises DocumentError with everything that is wrong and where.
        """
        given = Checked(value)
        parts = given.fields(_FIELDS)
        name = parts["name"].line(most=MAX_NAME_CHARS, is_required=True)
        document = cls(
            name=name or "",
            tagline=parts["tagline"].line(most=MAX_TAGLINE_CHARS) or "",
            personality=read_personality(parts["personality"]),
            rules=read_rules(parts["rules"]),
            skills=read_skills(parts["skills"]),
            model=ModelConfig.check(parts["model_config"]),
            memory=MemoryConfig.check(parts["memory_config"]),
        )
        given.raise_problems()
        return document
