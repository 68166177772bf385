"""An agent's whole system prompt: its seven layers, documents, and news of a conversation."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import connection
from django.utils import timezone

from memory.clients.afterwards import at_its_end
from memory.domain.audience import Viewer
from memory.domain.names import says_user
from memory.domain.personality import Document, effective_skills, personality_text
from memory.domain.plans.assembly import assemble
from memory.domain.plans.documents import DOCUMENTS_SHARE, ToldDocuments, documents_section
from memory.domain.plans.documents import Document as GivenDocument
from memory.domain.plans.plan import LAYERS, SEVEN_LAYERS, Layer, Text, Written, summary_line
from memory.domain.rendering import TokenCounter
from memory.domain.scoring import Weights
from memory.domain.updates import MAX_BULLETS, Update, header, updates_of
from memory.reading.answers import Considered, Prompt, RetrievalStats, milliseconds
from memory.reading.cache import Body, Sent, keep, look_up
from memory.reading.packing import Packing
from memory.reading.questions import Read
from memory.reading.retrieval import key_of, prompt, sent_of
from memory.reading.search import NO_CANDIDATES
from memory.reading.snapshots import at_snapshot
from memory.selectors.history.changes import happened_between, known_memories, revisions_of
from memory.selectors.names import person_names
from memory.writing.summaries import running_summary
from teams.domain.agent_document import Personality, Rules, Skills
from teams.ids import new_id
from teams.models import Agent, Conversation
from teams.tenancy import team_scope

_ATTEMPTS = 3

_TELL = """
INSERT INTO teams_toldrevision AS told (id, team_id, conversation_id, revision, at)
VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (team_id, conversation_id) DO UPDATE SET revision = EXCLUDED.revision, at = EXCLUDED.at
WHERE told.revision = %s
RETURNING told.revision
"""
MEMORY_OFF = "memory is switched off for this team, so the prompt holds none"


@dataclass(frozen=True, slots=True)
class LayerUse:
    """The share of a layer in a prompt: `number` is 1-7, `cut` how much the budget took away."""

    number: int
    name: Layer
    tokens: int
    memories: int
    cut: int
    cut_tokens: int


@dataclass(frozen=True, slots=True)
class BuiltPrompt:
    """A prompt and its seven layers in their order.

    `retrieval` holds its memories, and the messages that are quoted in layer 5. `documents` are
    those that the caller passed along, after the layers.
    """

    prompt: str
    layers: tuple[LayerUse, ...]
    retrieval: Prompt
    warnings: tuple[str, ...]
    stats: RetrievalStats
    documents: ToldDocuments | None = None

    @classmethod
    def of(cls, found: Prompt) -> BuiltPrompt:
        """Returns the prompt that was found, with the share of each layer."""
        assembly = found.assembly
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
        return cls(assembly.prompt, layers, found, found.warnings, found.stats)

    @property
    def found(self) -> int:
        """The number of memories in it."""
        return len(self.retrieval.told)

    @property
    def similarity(self) -> float | None:
        """The best cosine among its memories."""
        return self.retrieval.similarity

    @property
    def layer_of(self) -> dict[UUID, int]:
        """The number of the layer of each memory, by its id."""
        told = self.retrieval.assembly.told
        return {each.entry.key: LAYERS.index(Layer(each.section)) + 1 for each in told}

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
    """Returns the seven layers within `token_budget` tokens.

    Layers 1-3 and pinned memories alone may exceed it. `conversation` is one the viewer may see;
    its running summary is layer 7. Without `is_loaded` the memories are named and not loaded.
    """
    viewer = read.viewer
    summary = ""
    if conversation is not None:
        talk = conversation
        summary = at_snapshot(lambda _: _summary(viewer, talk), viewer=viewer)
    layer_7 = Text(Layer.SUMMARY, Written(summary_line(summary, counter=counter)))
    found = prompt(
        read,
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
    return BuiltPrompt.of(found)


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

    `form` is that of `answer_key`. In a conversation, where news is told once, none is cached.
    """
    key = key_of(
        read,
        form=form,
        document=[agent.pk, document_of(agent)],
        weights=weights,
        token_budget=token_budget,
        counter=counter.name,
    )
    cached = look_up(key)
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
        return keep(cached, sent_of(built.retrieval, body=render(built), count=built.found))


def prompt_without_memory(*, agent: Agent, token_budget: int, counter: TokenCounter) -> BuiltPrompt:
    """Returns the prompt of an agent whose team has memory off: its document, and a warning."""
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
        warnings=(*assembly.warnings, MEMORY_OFF),
    )
    nothing = Prompt(
        memories=(),
        messages=(),
        told=(),
        considered=Considered(NO_CANDIDATES, NO_CANDIDATES),
        words=(),
        assembly=assembly,
        contradictions=(),
        has_heard_names=False,
        stats=stats,
    )
    return BuiltPrompt.of(nothing)


def document_of(agent: Agent) -> Document:
    """Returns the agent's document without invalid parts, which raw SQL may leave."""
    return Document(
        name=agent.name,
        tagline=agent.tagline,
        personality=Personality.usable(agent.personality).differing(),
        rules=Rules.usable(agent.rules).differing(),
        skills=Skills.usable(agent.skills).differing(),
    )


def _summary(viewer: Viewer, conversation: Conversation) -> str:
    summary = running_summary(conversation=conversation)
    if not says_user(summary):
        return summary
    names = person_names(team_id=viewer.team_id, texts=(), conversation_id=conversation.pk)
    return names.told(conversation.pk, summary)


def _document_texts(document: Document) -> list[Text]:
    """Layers 1 and 3, which are never trimmed."""
    return [
        Text(Layer.PERSONALITY, Written(personality_text(document)), is_mandatory=True),
        *(
            Text(Layer.SKILLS, Written(skill.render(), order=place), is_mandatory=True)
            for place, skill in enumerate(effective_skills(document))
        ),
    ]


def with_documents(
    documents: Sequence[GivenDocument],
    *,
    token_budget: int,
    counter: TokenCounter,
    build: Callable[[int], BuiltPrompt],
) -> BuiltPrompt:
    """Returns the prompt that `build` makes in the tokens left, and the documents after it.

    Documents take at most `DOCUMENTS_SHARE` of the budget.
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


@dataclass(frozen=True, slots=True)
class News:
    """Changes after revision `since` up to `revision`, as lines and as updates.

    `since` is None for a thread's first prompt, to which nothing is news. `tokens` are those of the
    lines and of what separates them from the prompt. If it `waits`, a prompt had no room for it.
    """

    since: int | None
    revision: int
    text: str = ""
    tokens: int = 0
    told: tuple[Update, ...] = ()
    waits: bool = False

    @property
    def is_to_note(self) -> bool:
        """Returns whether a prompt with it moves the thread's revision."""
        return not self.waits and (self.since is None or self.revision > self.since)


def news_of(
    *, viewer: Viewer, conversation_id: UUID, counter: TokenCounter, since: int | None = None
) -> News:
    """Returns what the thread's agent has not been told yet, or changes after `since`; in scope."""
    revision, told = revisions_of(team_id=viewer.team_id, conversation_id=conversation_id)
    begin = told if since is None else since
    if begin is None or revision <= begin:
        return News(begin, revision)
    happened = happened_between(
        team_id=viewer.team_id, conversation_id=conversation_id, since=begin, until=revision
    )
    known = known_memories(viewer=viewer, ids={each.memory_id for each in happened})
    updates = updates_of(happened, known)
    texts = [(each.memory.memory_id, each.memory.content) for each in updates]
    names = person_names(team_id=viewer.team_id, texts=texts)
    named = [
        replace(
            each,
            memory=replace(each.memory, content=names.told(*text), quote=names.quotes.get(text[0])),
        )
        for each, text in zip(updates, texts, strict=True)
    ]
    text = header(named, since=begin, counter=counter)
    bullets = max(text.count("\n"), 0)
    return News(
        begin,
        revision,
        text,
        counter.count(f"{text}\n\n") if text else 0,
        tuple(updates[: min(bullets, MAX_BULLETS)]),
    )


def with_news(
    *,
    viewer: Viewer,
    conversation_id: UUID,
    counter: TokenCounter,
    token_budget: int,
    build: Callable[[int], BuiltPrompt],
) -> tuple[BuiltPrompt, News]:
    """Returns the prompt of `with_unnoted_news`, and its news, noted.

    News is noted only when the prompt is made, by one of those who made one at the same time: the
    others read again what is left to tell. So no two prompts tell the same, and a failed one takes
    no news with it.
    """
    for _ in range(_ATTEMPTS):
        built, news = with_unnoted_news(
            viewer=viewer,
            conversation_id=conversation_id,
            counter=counter,
            token_budget=token_budget,
            build=build,
        )
        if not news.is_to_note:
            return built, news
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            if note_news(team_id=viewer.team_id, conversation_id=conversation_id, news=news):
                return built, news
    # Others keep telling; what is left is in their prompts or in the next one.
    return build(token_budget), News(news.since, news.revision)


def with_unnoted_news(
    *,
    viewer: Viewer,
    conversation_id: UUID,
    counter: TokenCounter,
    token_budget: int,
    build: Callable[[int], BuiltPrompt],
) -> tuple[BuiltPrompt, News]:
    """Returns the prompt that `build` makes in the tokens that are left, with the news at its head.

    `note_news` notes it once somebody has read it. If mandatory parts leave no room, the news waits
    for another prompt, with a warning.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        news = news_of(viewer=viewer, conversation_id=conversation_id, counter=counter)
    built = build(token_budget - news.tokens)
    if news.text and built.stats.tokens_used > token_budget - news.tokens:
        return _without_room(build(token_budget), news, token_budget)
    return _headed(built, news, token_budget), news


def note_first_prompt(*, conversation: Conversation) -> None:
    """Notes that a thread's first prompt is made now, so that later changes are news; in scope.

    For prompts that do not ask for news; it changes nothing after the first one.
    """
    news = News(None, conversation.revision)
    note_news(team_id=conversation.team_id, conversation_id=conversation.pk, news=news)


def note_news(*, team_id: UUID, conversation_id: UUID, news: News) -> bool:
    """Notes that a prompt told the news, so that none tells it again; call it in scope.

    Returns False, and notes nothing, where another prompt was noted since it was read.
    """
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('transaction_read_only')")
        if cursor.fetchone() == ("on",):
            return True  # The team is being moved: the news is told again afterwards.
        cursor.execute(_TELL, [new_id(), team_id, conversation_id, news.revision, now, news.since])
        return cursor.fetchone() is not None


def _without_room(built: BuiltPrompt, news: News, token_budget: int) -> tuple[BuiltPrompt, News]:
    warning = (
        f"news of this thread's memories ({news.tokens} tokens) found no room in the budget of"
        f" {token_budget} beside what is never cut; they wait for a prompt with more"
    )
    waiting = News(news.since, news.revision, waits=True)
    return replace(built, warnings=(*built.warnings, warning)), waiting


def _headed(built: BuiltPrompt, news: News, token_budget: int) -> BuiltPrompt:
    if not news.text:
        return built
    stats = replace(
        built.stats, tokens_used=built.stats.tokens_used + news.tokens, token_budget=token_budget
    )
    first, *others = built.layers
    return replace(
        built,
        prompt=f"{news.text}\n\n{built.prompt}" if built.prompt else news.text,
        # They stand at the head of layer 1 and, like it, are never trimmed.
        layers=(replace(first, tokens=first.tokens + news.tokens), *others),
        stats=stats,
    )
