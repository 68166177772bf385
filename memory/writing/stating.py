"""Memories that a caller states, from names to drafts to the write path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from memory.domain.audience import TEAM_WIDE, Viewer
from memory.domain.forms import PROJECT_FORMS, STATED_IMPORTANCE, Form, Payload
from memory.domain.profile_fields import is_preference, is_profile_subject
from memory.domain.talk import departures, people_of
from memory.domain.types import (
    MAX_SUBJECT_CHARS,
    MAX_TAG_CHARS,
    MOST_IMPORTANT_UNCONFIRMED,
    OF_THE_CONFIRMED,
    MemoryType,
    Scope,
    Source,
    strongest,
    weakest,
)
from memory.selectors.conversations import conversation_for, messages_by_id
from memory.understanding.tools import Tools
from memory.writing.categories import check_allowed, check_stated_categories
from memory.writing.drafts import STATED, MemoryDraft, WriteResult
from memory.writing.repetitions import DraftRefusedError, ExternalIds
from memory.writing.secrets import SafeStatement, masked_note, note_masked, safe_statement
from memory.writing.write_path import write_memories
from teams.errors import ConflictError, DomainError, ForbiddenError, InvalidError, NotFoundError
from teams.models import Conversation, EndUser, Message
from teams.services.people import ensure_agent, ensure_end_users, ensure_project
from teams.tenancy import team_scope

# The scopes that a caller may state; the others belong to work under way.
STATED_SCOPES = (Scope.USER, Scope.PROJECT, Scope.TEAM)
_NEEDS_AGENT = (MemoryType.AGENT_PRIVATE, MemoryType.IDENTITY)


# -- scopes ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Belonging:
    """The person and the project that a memory belongs to; None for none."""

    end_user_id: UUID | None = None
    project_id: UUID | None = None


def belonging(*, scope: Scope, named: Belonging, known: Belonging) -> Belonging:
    """Returns the owners of a memory of that scope, `named` by the caller, else `known` already.

    `user` is of one person and no project, `project` of everybody in the project unless a person
    is named, `team` of neither. Raises InvalidError where the names do not fit the scope or one is
    missing.
    """
    if scope is Scope.TEAM:
        for field, value in (("user", named.end_user_id), ("project", named.project_id)):
            if value is not None:
                raise InvalidError(
                    f"A memory of scope team belongs to no {field}: leave it out.", field=field
                )
        return Belonging()
    if scope is Scope.PROJECT:
        project_id = named.project_id or known.project_id
        if project_id is None:
            raise InvalidError("A memory of scope project needs one: name it.", field="project")
        return Belonging(named.end_user_id, project_id)
    if named.project_id is not None:
        raise InvalidError(
            "A memory of scope user holds in all projects: leave the project out.", field="project"
        )
    end_user_id = named.end_user_id or known.end_user_id
    if end_user_id is None:
        raise InvalidError("A memory of scope user needs a person: name the user.", field="user")
    return Belonging(end_user_id)


def check_team_preference(*, category: str, subject: str) -> None:
    """Raises InvalidError for a preference, which needs consent to be the whole team's."""
    if is_preference(category=category, subject=subject):
        raise InvalidError(
            "A preference of the whole team needs a yes: send `confirm: true` with a key of the"
            " team, or state it for a project and promote that, which asks for one.",
            field="confirm",
        )


def check_may_confirm(*, viewer: Viewer, confirm: bool) -> None:
    """Raises ForbiddenError where an agent confirms a memory of the whole team."""
    if confirm and viewer.agent_id is not None:
        raise ForbiddenError(
            "An agent cannot confirm what the whole team is told: use a key of the team.",
            field="confirm",
        )


# -- sources ---------------------------------------------------------------------------------


def source_of(viewer: Viewer) -> Source:
    """Returns the source of what the viewer states: a person in the admin, else an agent."""
    return Source.PERSON if viewer.actor.startswith("staff:") else Source.AGENT


def source_of_message(message: Message) -> Source:
    """Returns the source of a message without what was said around it."""
    return Source(message.source) if message.source else Source.of_role(message.role)


def _stated_source(viewer: Viewer, stated: Source | None, messages: Sequence[Message]) -> Source:
    """Returns the source that is stated, else that of the messages; never above the viewer's."""
    most = source_of(viewer)
    if stated is None:
        of_messages = [source_of_message(each) for each in messages]
        return weakest((most, strongest(of_messages))) if of_messages else most
    if weakest((most, stated)) is not stated:
        raise InvalidError(
            f"A key states what an agent, a tool or a web page says: leave it out, or send {most}.",
            field="source",
        )
    return stated


def _check_plain(item: StatedMemory) -> None:
    """Raises InvalidError for what only a confirmed memory can be."""
    why = "needs a person's word, and a tool or a web page alone says this"
    if item.is_pinned:
        raise InvalidError(f"A pin {why}.", field="is_pinned")
    if item.memory_type in OF_THE_CONFIRMED:
        raise InvalidError(f"A memory of type {item.memory_type} {why}.", field="memory_type")
    if is_profile_subject(item.subject):
        raise InvalidError(f"A field of a profile {why}.", field="subject")


# -- statements ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StatedMemory:
    """A memory as a caller states it, with names instead of ids.

    Its `source` is that of its messages or of the caller where none is named. Without a text it has
    a `form` and a `payload` of its schema, which is rendered as its text.
    """

    content: str = ""
    memory_type: MemoryType = MemoryType.SEMANTIC
    scope: Scope | None = None
    importance: int = STATED_IMPORTANCE
    is_pinned: bool = False
    agent: str | None = None
    user: str | None = None
    project: str | None = None
    conversation: UUID | None = None
    subject: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    confidence: float = 1.0
    created_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    message_ids: tuple[UUID, ...] = ()
    external_id: str | None = None
    check: bool = True
    form: Form | None = None
    payload: Payload = field(default_factory=dict)
    confirm: bool = False
    source: Source | None = None


def remember(
    *,
    viewer: Viewer,
    stated: Sequence[StatedMemory],
    tools: Tools,
    now: datetime,
    reason: str = "",
    extractor: str = STATED,
    prefix: bool = True,
    is_import: bool = False,
    confirm: Callable[[], None] = lambda: None,
) -> list[WriteResult]:
    """Writes stated memories, all or none, and returns the results in order.

    Agents, users and projects are created when new; a conversation or message must exist. A memory
    of a conversation is about that conversation's user and project unless it says otherwise.
    Secrets are masked; departures from the writing constraints are stored verbatim and reported.
    Errors name the field (`[3].agent` with `prefix`, for lists): ForbiddenError for a category,
    NotFoundError, InvalidError, and ConflictError for an external id that is taken. An import
    accepts secrets, any category, and deleted memories, which stay deleted. `confirm` is called
    once the people are known and before anything is written; its error cancels the write.
    """
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, reason=reason):
        directory = _Directory(viewer, stated, is_import=is_import)
        drafts: list[MemoryDraft] = []
        masked: list[int] = []
        for index, item in enumerate(stated):
            try:
                safe = safe_statement(
                    text=item.content,
                    text_field="content",
                    form=item.form,
                    payload=item.payload,
                    refuse_bare=not is_import,
                )
                drafts.append(directory.draft(item, safe, now=now, extractor=extractor))
            except DomainError as error:
                field = f"[{index}].{error.field}" if prefix else error.field
                raise type(error)(error.message, field=field) from None
            if safe.is_masked:
                masked.append(index)
        with _naming_refused(prefix):
            # The write asks again. This leaves no new agent or person behind.
            ExternalIds(viewer=viewer, drafts=drafts).refuse_taken()
        confirm()
    with _naming_refused(prefix):
        results = write_memories(viewer=viewer, drafts=drafts, tools=tools, reason=reason)
    if not is_import:
        results = [
            replace(result, wording=departures(text=draft.content, memory_type=draft.memory_type))
            for result, draft in zip(results, drafts, strict=True)
        ]
    if masked:
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
            for index in masked:
                results[index] = note_masked(team_id=viewer.team_id, result=results[index])
    return results


@contextmanager
def _naming_refused(prefix: bool) -> Iterator[None]:
    try:
        yield
    except DraftRefusedError as error:
        field = f"[{error.index}].{error.field}" if prefix else error.field
        raise ConflictError(error.message, field=field) from None


class _Directory:
    """The names of one request, each looked up once.

    New ones are made in one order by everybody, so that requests that name the same wait for each
    other without a deadlock.
    """

    def __init__(self, viewer: Viewer, stated: Sequence[StatedMemory], *, is_import: bool) -> None:
        team_id = viewer.team_id
        self.viewer = viewer
        self.is_import = is_import
        self.agents = {
            slug: ensure_agent(team_id=team_id, slug=slug)
            for slug in sorted({item.agent for item in stated if item.agent})
        }
        self.users = ensure_end_users(
            team_id=team_id, external_ids={item.user for item in stated if item.user}
        )
        self.projects = {
            slug: ensure_project(team_id=team_id, slug=slug, among=viewer.project_ids).pk
            for slug in sorted({item.project for item in stated if item.project})
        }
        self.conversations: dict[UUID, Conversation] = {}
        wanted = list(dict.fromkeys(each for item in stated for each in item.message_ids))
        self.messages: dict[UUID, Message] = (
            messages_by_id(viewer=viewer, ids=wanted) if wanted else {}
        )
        self.no_categories = check_stated_categories(
            viewer=viewer, names=[item.category for item in stated]
        )

    def draft(
        self, item: StatedMemory, safe: SafeStatement, *, now: datetime, extractor: str
    ) -> MemoryDraft:
        agent_id = self._agent_id(item)
        conversation = self._conversation(item.conversation)
        sources = [self._message(each) for each in dict.fromkeys(item.message_ids)]
        source = _stated_source(self.viewer, item.source, sources)
        if source.is_unconfirmed:
            _check_plain(item)
            item = replace(item, importance=min(item.importance, MOST_IMPORTANT_UNCONFIRMED))
        user, project_id = self._owner(item, conversation)
        if item.form in PROJECT_FORMS and project_id is None:
            raise InvalidError(
                f"A memory of the form {item.form} is of a project: name it.", field="project"
            )
        subject = masked_note(item.subject, most=MAX_SUBJECT_CHARS)
        is_of_team = user is None and project_id is None
        is_of_team &= agent_id is None or item.memory_type in TEAM_WIDE
        if is_of_team and not item.confirm and not self.is_import:
            check_team_preference(category=item.category, subject=subject)
        speakers = [row.name for row in sources]
        return MemoryDraft(
            team_id=self.viewer.team_id,
            content=safe.text,
            memory_type=item.memory_type,
            importance=item.importance,
            extractor=extractor,
            created_at=item.created_at or now,
            is_pinned=item.is_pinned,
            confidence=item.confidence,
            category=item.category,
            subject=subject,
            tags=tuple(masked_note(tag, most=MAX_TAG_CHARS) for tag in item.tags),
            agent_id=agent_id,
            author_id=agent_id or self.viewer.agent_id,
            people=people_of(safe.text, speakers=speakers, user=user.names if user else ()),
            end_user_id=user.pk if user else None,
            project_id=project_id,
            conversation_id=conversation.pk if conversation else None,
            message_ids=tuple(row.pk for row in sources),
            message_external_ids=tuple(row.external_id for row in sources if row.external_id),
            valid_from=item.valid_from,
            valid_to=item.valid_to,
            external_id=item.external_id,
            check=item.check,
            accepts_deleted=self.is_import,
            form=item.form,
            payload=safe.payload,
            source=source,
            needs_consent=not (is_of_team and item.confirm),
        )

    def _agent_id(self, item: StatedMemory) -> UUID | None:
        """Returns the agent of the memory, if any; checks that it may use the category."""
        agent = self.agents[item.agent] if item.agent else None
        # An import accepts any category.
        of_agent = () if agent is None or self.is_import else agent.allowed_categories
        allowed = self.viewer.allowed_categories or of_agent
        check_allowed(allowed=allowed, names=[item.category], field="category")
        if item.category in self.no_categories:
            raise self.no_categories[item.category]
        if agent is not None:
            return agent.pk
        if item.memory_type not in _NEEDS_AGENT:
            return None
        if self.viewer.agent_id is None:
            raise InvalidError(
                f"A memory of type {item.memory_type} belongs to an agent: name it.", field="agent"
            )
        return self.viewer.agent_id

    def _owner(
        self, item: StatedMemory, conversation: Conversation | None
    ) -> tuple[EndUser | None, UUID | None]:
        named = self.users[item.user] if item.user else None
        named_project = self.projects[item.project] if item.project else None
        user, project_id = named, named_project
        if conversation is not None:
            user = user or conversation.end_user
            project_id = project_id or conversation.project_id
        if item.scope is not None:
            owner = belonging(
                scope=item.scope,
                named=Belonging(named.pk if named else None, named_project),
                known=Belonging(user.pk if user else None, project_id),
            )
            user = user if owner.end_user_id else None
            project_id = owner.project_id
        if user is None and item.memory_type is MemoryType.USER_PROFILE:
            raise InvalidError(
                "A memory of type user_profile is about a person: name the user, or the"
                " conversation with them.",
                field="user",
            )
        return user, project_id

    def _conversation(self, conversation_id: UUID | None) -> Conversation | None:
        if conversation_id is None:
            return None
        if conversation_id not in self.conversations:
            try:
                self.conversations[conversation_id] = conversation_for(
                    viewer=self.viewer, conversation_id=conversation_id
                )
            except NotFoundError as error:
                raise NotFoundError(error.message, field="conversation") from None
        return self.conversations[conversation_id]

    def _message(self, message_id: UUID) -> Message:
        try:
            return self.messages[message_id]
        except KeyError:
            raise NotFoundError(f"There is no message {message_id}.", field="message_ids") from None
