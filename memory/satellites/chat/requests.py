"""Chat completion requests: checks them, and separates our fields from the model's parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn
from urllib.parse import unquote
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from memory.api.fields import NameField, OneOfField
from memory.api.retrieval import DocumentsField
from memory.api.schemas import ApiSerializer
from memory.domain.plans.documents import Document
from memory.satellites.chat.wording import MOST_NAME_CHARS, ROLES, spoken_text, storable, text_of
from routing.domain.chat_answers import given_limits
from routing.domain.complexity import Tier
from teams.errors import NotFoundError

# Any: the protocol's JSON, which goes to the model as it came.
Json = dict[str, Any]


# Whose words those of clients are that name nobody.
ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True)
class ChatAsk:
    """A validated chat completion request.

    Without a `thread_id` the conversation is recognised by its history. `tier` is the caller's
    choice. `parameters` are passed to the model unchanged. With `is_retry` the client says that it
    sent the same before. `asked_at` is when the request arrived. `documents` are told
    beside memory. `project_ids` are those that the key is bound to, none for all.
    Unless it `names_user`, nothing about people is told.
    """

    agent: str
    user: str
    messages: tuple[Json, ...]
    parameters: Mapping[str, Any]
    asked_at: datetime
    tier: Tier | None = None
    thread_id: str | None = None
    project: str | None = None
    is_retry: bool = False
    documents: tuple[Document, ...] = ()
    project_ids: tuple[UUID, ...] = ()
    names_user: bool = True

    @property
    def question(self) -> str:
        """The user's last message; without one, the last message of another role with text."""
        for role in ("user", "tool", "assistant", "system"):
            for message in reversed(self.messages):
                if ROLES[message["role"]] == role:
                    text = storable(spoken_text(message)).strip() or text_of(message).strip()
                    if text:
                        return text
        return ""

    @property
    def max_tokens(self) -> int | None:
        """The client's limit on the answer, the lower of two."""
        limits = given_limits(self.parameters).values()
        return min((limit for limit in limits if limit > 0), default=None)

    @property
    def has_history(self) -> bool:
        """Returns whether the request includes earlier turns."""
        return any(message["role"] == "assistant" for message in self.messages)


THREAD_HEADER = "X-Palimpsest-Thread"
USER_HEADER = "X-Palimpsest-User"
PROJECT_HEADER = "X-Palimpsest-Project"
AUTO = "auto"
MOST_MESSAGES = 2_000
# An agent's name, a slash and a tier.
_MOST_MODEL_CHARS = 120
# What of `metadata` is ours; the rest is the provider's.
_OURS = ("thread_id", "project", "user")
# What never goes to the model by itself: it is read here.
_READ_HERE = ("model", "messages", "stream", "user", "metadata", "n", "documents")


@extend_schema_field(
    {
        "nullable": True,
        "oneOf": [
            {"type": "string"},
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"type": {"type": "string"}},
                    "required": ["type"],
                    "additionalProperties": {},
                },
            },
        ],
    }
)
class PartsField(serializers.JSONField):
    """A text, or a list of parts with their types."""


class ChatMessageSerializer(serializers.Serializer[Any]):
    """A chat message; further fields are passed to the model unchanged."""

    role = OneOfField(choices=sorted(ROLES))
    content = PartsField(required=False, allow_null=True, help_text="A text, or a list of parts.")


class ChatCompletionSerializer(ApiSerializer):
    """A chat completion request. Fields that are not named here are passed to the model."""

    example = {
        "model": "kyra",
        "user": "sarah",
        "messages": [{"role": "user", "content": "How do I take my tea?"}],
        "metadata": {"thread_id": "tea"},
    }

    model = NameField(
        max_length=_MOST_MODEL_CHARS,
        help_text="The agent's slug, such as kyra; with a tier kyra/auto, kyra/fast,"
        " kyra/balanced or kyra/powerful.",
    )
    messages = serializers.ListField(
        child=ChatMessageSerializer(), min_length=1, max_length=MOST_MESSAGES
    )
    stream = serializers.BooleanField(required=False, default=False, allow_null=True)
    user = NameField(
        required=False,
        allow_null=True,
        allow_blank=True,
        max_length=MOST_NAME_CHARS,
        help_text=f"The end user's external id; or the header {USER_HEADER}.",
    )
    metadata = serializers.DictField(
        required=False,
        allow_null=True,
        help_text=f"thread_id (or the header {THREAD_HEADER}) and project; the rest is passed on.",
    )
    documents = DocumentsField(
        required=False,
        allow_null=True,
        help_text="Told to the model beside memory, as in a prompt; not passed on as they are.",
    )


def read_ask(
    *,
    request: Request,
    is_agent: Callable[[str], bool],
    now: datetime,
    project_ids: tuple[UUID, ...] = (),
) -> ChatAsk:
    """The request, checked. `is_agent` knows the team's agents.

    Raises ValidationError with the field at fault, and NotFoundError for a model that cannot be.
    """
    body = request.data
    if not isinstance(body, dict):
        _refuse("", "Send a JSON object.")
    agent, tier = _agent_and_tier(body.get("model"), is_agent)
    messages = _messages(body.get("messages"))
    if body.get("n") not in (None, 1):
        _refuse("n", "Only one answer can be given: leave it out, or send 1.")
    if not isinstance(body.get("stream", False), bool | None):
        _refuse("stream", "Send true or false.")
    metadata = body.get("metadata")
    if not isinstance(metadata, dict | None):
        _refuse("metadata", "Send an object of texts.")
    metadata = metadata or {}
    parameters = {name: value for name, value in body.items() if name not in _READ_HERE}
    foreign = {name: value for name, value in metadata.items() if name not in _OURS}
    if foreign:
        parameters["metadata"] = foreign
    _check_words([messages, parameters])
    user = _named(
        request, USER_HEADER, {"user": body.get("user"), "metadata.user": metadata.get("user")}
    )
    thread = _named(request, THREAD_HEADER, {"metadata.thread_id": metadata.get("thread_id")})
    project = _named(
        request, PROJECT_HEADER, {"metadata.project": metadata.get("project")}, most=100
    )
    return ChatAsk(
        agent=agent,
        tier=tier,
        user=user or settings.CHAT_DEFAULT_USER or ANONYMOUS,
        names_user=bool(user or settings.CHAT_DEFAULT_USER),
        project_ids=project_ids,
        thread_id=thread,
        project=project,
        messages=tuple(messages),
        parameters=parameters,
        asked_at=now,
        documents=_documents(body.get("documents")),
        is_retry=request.headers.get("X-Stainless-Retry-Count", "0") not in ("0", ""),
    )


def _documents(value: object) -> tuple[Document, ...]:
    if value is None:
        return ()
    try:
        given = DocumentsField().run_validation(value)
    except serializers.ValidationError as error:
        raise serializers.ValidationError({"documents": error.detail}) from None
    return tuple(Document(**each) for each in given)


def wants_stream(request: Request) -> bool:
    """Returns whether the answer is to be streamed."""
    body = request.data
    return isinstance(body, dict) and body.get("stream") is True


def _agent_and_tier(model: object, is_agent: Callable[[str], bool]) -> tuple[str, Tier | None]:
    """The agent that a model's name means, and the tier after its last slash."""
    name = _name("model", model, _MOST_MODEL_CHARS)
    if name is None:
        _refuse("model", "Name the agent, such as kyra, or kyra/auto.")
    agent, slash, tier = name.rpartition("/")
    known = [each.value for each in Tier]
    if slash and (tier == AUTO or tier in known):
        return _slug(agent), None if tier == AUTO else Tier(tier)
    if slash and not is_agent(name):
        # A misspelt tier must not become an agent of that name.
        raise NotFoundError(
            f"There is no agent '{name}' and no tier '{tier}'. Name an agent, and after a slash"
            f" one of {', '.join([AUTO, *known])} at most.",
            field="model",
        )
    return _slug(name), None


def _header(request: Request, name: str) -> str:
    """The header's text: UTF-8 as it is, which the gateway reads as Latin-1, or percent-encoded.

    Most clients can send no other than ASCII, and answers encode their headers so.
    """
    value = request.headers.get(name, "")
    try:
        return unquote(value.encode("latin-1").decode(), errors="strict")
    except UnicodeError:
        return value


def _slug(name: str) -> str:
    found = _name("model", name, 100)
    if found is None:
        _refuse("model", "Name the agent before the slash.")
    return found


def _messages(value: object) -> list[Json]:
    if not isinstance(value, list) or not value:
        _refuse("messages", "Send a list of at least one message.")
    if len(value) > MOST_MESSAGES:
        _refuse("messages", f"Send at most {MOST_MESSAGES} messages.")
    for index, message in enumerate(value):
        _check_message(message, f"messages[{index}]")
    return value


def _check_words(value: object) -> None:
    """Refuse what no endpoint could be sent: each would seem to fail."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        _refuse("messages", "Must be valid Unicode text: half a surrogate pair stands alone.")
    except ValueError:
        _refuse("", "Numbers must be finite.")


def _check_message(message: object, path: str) -> None:
    if not isinstance(message, dict):
        _refuse(path, "Send an object with role and content.")
    role = message.get("role")
    if not isinstance(role, str) or role not in ROLES:
        _refuse(f"{path}.role", f"Send one of {', '.join(ROLES)}.")
    content = message.get("content")
    if content is None:
        if role != "assistant":
            _refuse(f"{path}.content", f"A message of the role {role} needs its content.")
    elif isinstance(content, list):
        for place, part in enumerate(content):
            if not isinstance(part, dict) or not isinstance(part.get("type"), str):
                _refuse(f"{path}.content[{place}]", "Send an object with its type.")
            if part["type"] == "text" and not isinstance(part.get("text"), str):
                _refuse(f"{path}.content[{place}].text", "Send a text.")
    elif not isinstance(content, str):
        _refuse(f"{path}.content", "Send a text, or a list of parts.")


def _named(
    request: Request, header: str, in_body: Mapping[str, object], *, most: int = MOST_NAME_CHARS
) -> str | None:
    """The one name that the header or the body gives; two are refused.

    What is said would be remembered of somebody, and which of them is not ours to guess.
    """
    field = next(iter(in_body))
    given = {f"the header {header}": _header(request, header), **in_body}
    names = {place: _name(field, value, most) for place, value in given.items()}
    said = {place: name for place, name in names.items() if name is not None}
    if len(set(said.values())) > 1:
        told = " and ".join(f"{place} says '{name}'" for place, name in said.items())
        _refuse(field, f"Name one: {told}. Leave one of them out, or send the same in both.")
    return next(iter(said.values()), None)


def _name(field: str, value: object, most: int) -> str | None:
    if value is None or value == "":
        return None
    try:
        return str(NameField(max_length=most).run_validation(value))
    except serializers.ValidationError as error:
        raise serializers.ValidationError({field: error.detail}) from None


def _refuse(field: str, words: str) -> NoReturn:
    raise serializers.ValidationError({field or "non_field_errors": [words]})
