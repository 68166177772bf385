"""Changes of memories since the last prompt of a conversation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import connection
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.rendering import TokenCounter
from memory.domain.updates import MAX_BULLETS, Update, header, updates_of
from memory.reading.seven_layers import BuiltPrompt
from memory.selectors.history.changes import happened_between, known_memories, revisions_of
from memory.selectors.person_names import person_names
from teams.ids import new_id
from teams.models import Conversation
from teams.tenancy import team_scope

_ATTEMPTS = 3

_TELL = """
INSERT INTO teams_toldrevision AS told (id, team_id, conversation_id, revision, at)
VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (team_id, conversation_id) DO UPDATE SET revision = EXCLUDED.revision, at = EXCLUDED.at
WHERE told.revision = %s
RETURNING told.revision
"""


@dataclass(frozen=True, slots=True)
class News:
    """What changed after revision `since` up to `revision`, as lines and as what they tell.

    `since` is None for a thread's first prompt: it tells what stands, and nothing is news to it.
    `tokens` are those of the lines with what sets them apart from the prompt; without news there
    are none.
    """

    since: int | None
    revision: int
    text: str = ""
    tokens: int = 0
    told: tuple[Update, ...] = ()


def news_of(
    *, viewer: Viewer, conversation_id: UUID, counter: TokenCounter, since: int | None = None
) -> News:
    """What the thread's agent has not been told yet, or what changed after `since`.

    Call it in the team's scope.
    """
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
    """The prompt that `build` makes in the tokens that are left, with the news at its head.

    What is told is noted only when the prompt is made, by one of those who made one at the same
    time: the others read anew what is left to tell. So no two prompts tell the same, and a failed
    one takes no news with it. Where what is never cut leaves them no room, they wait for a prompt
    that has some, and a warning says so.
    """
    for _ in range(_ATTEMPTS):
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            news = news_of(viewer=viewer, conversation_id=conversation_id, counter=counter)
        built = build(token_budget - news.tokens)
        if news.text and built.stats.tokens_used > token_budget - news.tokens:
            return _without_room(build(token_budget), news, token_budget)
        is_noted = news.since is not None and news.revision <= news.since
        if is_noted or _note_told(viewer, conversation_id, news):
            return _headed(built, news, token_budget), news
    # Others keep telling; what is left is in their prompts or in the next one.
    return build(token_budget), News(news.since, news.revision)


def note_first_prompt(*, conversation: Conversation) -> None:
    """Note that a thread's first prompt is made now, so that what changes later is news.

    It is for prompts that do not ask for news, and changes nothing after the first one. Call it in
    the team's scope.
    """
    _tell(conversation.team_id, conversation.pk, News(None, conversation.revision))


def _note_told(viewer: Viewer, conversation_id: UUID, news: News) -> bool:
    """Note up to where was told; False when another prompt told it first."""
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        return _tell(viewer.team_id, conversation_id, news)


def _tell(team_id: UUID, conversation_id: UUID, news: News) -> bool:
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(_TELL, [new_id(), team_id, conversation_id, news.revision, now, news.since])
        return cursor.fetchone() is not None


def _without_room(built: BuiltPrompt, news: News, token_budget: int) -> tuple[BuiltPrompt, News]:
    warning = (
        f"news of this thread's memories ({news.tokens} tokens) found no room in the budget of"
        f" {token_budget} beside what is never cut; they wait for a prompt with more"
    )
    return replace(built, warnings=(*built.warnings, warning)), News(news.since, news.revision)


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
