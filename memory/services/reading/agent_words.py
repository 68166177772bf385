"""What an agent's identity document says in its prompt: layers 1 and 3."""

from __future__ import annotations

from memory.domain.personality import Document, effective_skills, personality_text
from memory.domain.plans.plan import Text, Written
from memory.domain.plans.prompt import Layer
from teams.models import Agent


def document_of(agent: Agent) -> Document:
    """The agent's document; a part that is no JSON object counts as empty."""
    return Document(
        name=agent.name,
        tagline=agent.tagline,
        personality=_object(agent.personality),
        rules=_object(agent.rules),
        skills=_object(agent.skills),
    )


def texts_of(document: Document) -> list[Text]:
    """The layers that it is the whole of; they are never trimmed."""
    return [
        Text(Layer.PERSONALITY, Written(personality_text(document)), is_mandatory=True),
        *(
            Text(Layer.SKILLS, Written(skill.render(), order=place), is_mandatory=True)
            for place, skill in enumerate(effective_skills(document))
        ),
    ]


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}
