"""An agent's whole system prompt: who it is, what it remembers, what was said so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memory.clients.afterwards import at_its_end
from memory.domain.audience import Viewer
from memory.domain.names import says_user
from memory.domain.personality import Document, effective_skills, personality_text
from memory.domain.plans.assembly import Assembly, assemble
from memory.domain.plans.documents import (
    DOCUMENTS_SHARE,
    ToldDocuments,
    documents_section,
)
from memory.domain.plans.documents import (
    Document as GivenDocument,
)
from memory.domain.plans.plan import LAYERS, SEVEN_LAYERS, Layer, Text, Written, summary_line
from memory.domain.rendering import TokenCounter
from memory.domain.scoring import Weights
from memory.models import Contradiction
from memory.reading.answers import Prompt, RetrievalStats, ScoredMemory, milliseconds
from memory.reading.cache import Body, Made, Sent, answer_key, keep, look_up
from memory.reading.messages import ScoredMessage
from memory.reading.packing import Packing
from memory.reading.retrieval import Read, prompt
from memory.selectors.person_names import person_names
from memory.selectors.revisions import Revision, team_revision
from memory.writing.summaries import running_summary
from teams.domain.agent_document import Personality, Rules, Skills
from teams.models import Agent, Conversation
from teams.tenancy import team_scope

MEMORY_OFF = "memory is switched off for this team, so the prompt holds none"


@dataclass(frozen=True, slots=True)
class LayerUse:
    """What became of a layer: `number` is 1-7, `cut` says how much of it the budget took away."""

    number: int
    name: Layer
    tokens: int
    memories: int
    cut: int
    cut_tokens: int


@dataclass(frozen=True, slots=True)
class PromptMemory:
    """A memory in the prompt, and the number of the layer it stands in."""

    scored: ScoredMemory
    layer: int


@dataclass(frozen=True, slots=True)
class BuiltPrompt:
    """A prompt and its seven layers in their order.

    `told` are the ids of its memories, best first, `similarity` the best cosine among them.
    `memories` are they, and `contradictions` those among them, unless it was made to be read by a
    model alone. `messages` are quoted in layer 5, below what memories say. `revision` and
    `read_messages` are those of `Prompt`; `retrieval` is that itself, None without memory.
    `documents` are those that the caller passed along, after the layers.
    """

    prompt: str
    layers: tuple[LayerUse, ...]
    warnings: tuple[str, ...]
    stats: RetrievalStats
    told: tuple[UUID, ...] = ()
    similarity: float | None = None
    memories: Sequence[PromptMemory] = ()
    messages: Sequence[ScoredMessage] = ()
    contradictions: Sequence[Contradiction] = ()
    revision: Revision | None = None
    read_messages: bool = False
    retrieval: Prompt | None = None
    documents: ToldDocuments | None = None

    @property
    def found(self) -> int:
        """How many memories it tells."""
        return len(self.told)

    @property
    def trimmed(self) -> list[LayerUse]:
        """The layers that the budget cut into, the first trimmed first."""
        return [layer for layer in reversed(self.layers) if layer.cut]


def build_prompt(
    read: Read,
    *,
    agent: Agent,
    conversation: Conversation | None,
    weights: Weights,
    token_budget: int,
    counter: TokenCounter,
    is_loaded: bool = True,
) -> BuiltPrompt:
    """The seven layers within `token_budget` tokens; over it only by layers 1-3 and what is pinned.

    `conversation` is one the viewer may see; its running summary is layer 7. Without `is_loaded`
    the memories are named and not loaded.
    """
    viewer = read.viewer
    summary, revision = "", None
    if conversation is not None:
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            # Read before the summary: an answer is cached under a revision at least as old.
            revision = team_revision(team_id=viewer.team_id)
            summary = _summary(viewer, conversation)
    layer_7 = Text(Layer.SUMMARY, Written(summary_line(summary, counter=counter)))
    found = prompt(
        replace(read, revision=revision),
        packing=Packing(
            plan=SEVEN_LAYERS,
            weights=weights,
            token_budget=token_budget,
            counter=counter,
            texts=(*_document_texts(document_of(agent)), layer_7),
            quoted_in=Layer.RETRIEVED,
            summary_of=conversation.pk if conversation is not None and summary else None,
        ),
        is_loaded=is_loaded,
    )
    built = _built(found.assembly, found.stats, warnings=found.warnings)
    layers = {told.entry.key: LAYERS.index(Layer(told.section)) + 1 for told in found.assembly.told}
    return replace(
        built,
        told=tuple(each.row.memory_id for each in found.told),
        similarity=found.similarity,
        memories=[PromptMemory(each, layers[each.id]) for each in found.memories],
        messages=found.messages,
        contradictions=found.contradictions,
        revision=found.revision,
        read_messages=found.read_messages,
        retrieval=found,
    )


def send_prompt(
    read: Read,
    *,
    agent: Agent,
    weights: Weights,
    token_budget: int,
    counter: TokenCounter,
    render: Callable[[BuiltPrompt], Body],
    form: str,
) -> Sent:
    """Returns the prompt of `build_prompt` outside of a conversation as it is sent, cached.

    `form` is that of `answer_key`. A prompt that `rows` narrow is not cached, nor one in a
    conversation, where news are told once.
    """
    key = None
    if read.rows is None:
        parts = {
            "document": [agent.pk, document_of(agent)],
            "question": read.question,
            "weights": weights,
            "token_budget": token_budget,
            "limit": read.limit,
            "depth": read.depth,
            "min_score": read.min_score,
            "counter": counter.name,
        }
        key = answer_key(form=form, viewer=read.viewer, tools=read.tools, now=read.now, parts=parts)
    cached = look_up(key, viewer=read.viewer, now=read.now)
    if cached.sent is not None:
        return cached.sent
    with at_its_end():
        built = build_prompt(
            read,
            agent=agent,
            conversation=None,
            weights=weights,
            token_budget=token_budget,
            counter=counter,
        )
        made = Made(
            body=render(built),
            memory_ids=built.told,
            found=built.found,
            similarity=built.similarity,
            revision=built.revision,
            read_messages=built.read_messages,
            stats=built.stats,
        )
        return keep(cached, made)


def prompt_without_memory(*, agent: Agent, token_budget: int, counter: TokenCounter) -> BuiltPrompt:
    """The prompt of an agent whose team has memory switched off: its document, and a warning."""
    started = time.perf_counter()
    assembly = assemble(
        plan=SEVEN_LAYERS,
        entries=[],
        texts=_document_texts(document_of(agent)),
        token_budget=token_budget,
        counter=counter,
    )
    stats = RetrievalStats(
        tokens_used=assembly.tokens_used,
        token_budget=token_budget,
        token_counter=counter.name,
        total_ms=milliseconds(started),
    )
    return _built(assembly, stats, warnings=(*assembly.warnings, MEMORY_OFF))


def document_of(agent: Agent) -> Document:
    """The agent's document, without what is not valid, as raw SQL may leave it."""
    return Document(
        name=agent.name,
        tagline=agent.tagline,
        personality=Personality.usable(agent.personality).differing(),
        rules=Rules.usable(agent.rules).differing(),
        skills=Skills.usable(agent.skills).differing(),
    )


def _summary(viewer: Viewer, conversation: Conversation) -> str:
    """The conversation's running summary with the name of its person; call it in scope."""
    summary = running_summary(conversation=conversation)
    if not says_user(summary):
        return summary
    names = person_names(team_id=viewer.team_id, texts=(), conversation_id=conversation.pk)
    return names.told(conversation.pk, summary)


def _document_texts(document: Document) -> list[Text]:
    """The layers that an agent's document is the whole of, 1 and 3; they are never trimmed."""
    return [
        Text(Layer.PERSONALITY, Written(personality_text(document)), is_mandatory=True),
        *(
            Text(Layer.SKILLS, Written(skill.render(), order=place), is_mandatory=True)
            for place, skill in enumerate(effective_skills(document))
        ),
    ]


def _built(assembly: Assembly, stats: RetrievalStats, *, warnings: tuple[str, ...]) -> BuiltPrompt:
    """The prompt with what became of each layer."""
    cut = {each.section: each for each in assembly.trimmed}
    layers = tuple(
        LayerUse(
            number=number,
            name=layer,
            tokens=assembly.tokens[layer],
            memories=sum(told.section == layer for told in assembly.told),
            cut=cut[layer].count if layer in cut else 0,
            cut_tokens=cut[layer].tokens if layer in cut else 0,
        )
        for number, layer in enumerate(LAYERS, start=1)
    )
    return BuiltPrompt(assembly.prompt, layers, warnings, stats)


def with_documents(
    documents: Sequence[GivenDocument],
    *,
    token_budget: int,
    counter: TokenCounter,
    build: Callable[[int], BuiltPrompt],
) -> BuiltPrompt:
    """The prompt that `build` makes in the tokens that the documents leave it, and they after it.

    They take at most `DOCUMENTS_SHARE` of the budget, and nothing of it where there are none.
    """
    if not documents:
        return build(token_budget)
    told = documents_section(
        documents, token_budget=int(DOCUMENTS_SHARE * token_budget), counter=counter
    )
    built = build(token_budget - told.tokens)
    warnings = built.warnings
    if told.cut:
        warnings += (f"{told.cut} of {len(documents)} documents found no room",)
    stats = replace(
        built.stats,
        tokens_used=built.stats.tokens_used + told.tokens,
        token_budget=token_budget,
    )
    return replace(
        built,
        prompt="\n\n".join(filter(None, [built.prompt, told.prompt])),
        warnings=warnings,
        stats=stats,
        documents=told,
    )
