"""Chat in OpenAI's protocol with an agent that remembers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from pydantic import AliasChoices, BaseModel, ConfigDict, Field
from pydantic_core import from_json

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.calls import Call, Streamed, get, post
from palimpsest_client.errors import StreamCut
from palimpsest_client.operations import Resource, SenderT, operation

_PATH = "/v1/chat/completions"


class _Open(BaseModel):
    """Keeps what a language model's endpoint adds of its own."""

    model_config = ConfigDict(extra="allow")


class ChatText(_Open):
    """A message of the model, or what a piece of a stream adds to it."""

    role: str | None = None
    content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None  # Any: as the model's endpoint has it


class ChatChoice(_Open):
    """The model's output: `message` in an answer, `delta` in a piece of a stream."""

    index: int = 0
    message: ChatText = Field(validation_alias=AliasChoices("message", "delta"))
    finish_reason: str | None = None


class ChatAnswer(_Open):
    """An answer, or a piece of one.

    `palimpsest` says what memory gave, who answered and what it cost; of a stream the first piece
    has it as far as known, and the one with the `finish_reason` whole.
    """

    id: str
    model: str
    choices: list[ChatChoice]
    usage: dict[str, Any] | None = None  # Any: as above
    palimpsest: dict[str, Any] = {}  # Any: memory/satellites/chat/docs.md lists it

    @property
    def text(self) -> str:
        """The text of the answer, or of this piece of it."""
        return next((each.message.content or "" for each in self.choices), "")


class ListedModel(_Open):
    """An agent, or an agent and a tier, that chat can name as its model."""

    id: str


class ModelList(_Open):
    """All of them."""

    data: list[ListedModel]


class Chat(Resource[SenderT]):
    """`/v1/chat/completions`, `/v1/embeddings` and `/v1/models`.

    `options` go to the model: temperature, tools, …
    """

    @operation
    def complete(
        self, *, options: Mapping[str, object] | None = None, **completion: Unpack[p.ChatCompletion]
    ) -> Call[ChatAnswer]:
        """The agent's whole answer."""
        return post(_PATH, ChatAnswer, body={**(options or {}), **completion, "stream": False})

    @operation
    def stream(
        self, *, options: Mapping[str, object] | None = None, **completion: Unpack[p.ChatCompletion]
    ) -> Streamed[ChatAnswer]:
        """The agent's answer as it comes; StreamCut where it breaks off."""
        body = {**(options or {}), **completion, "stream": True}
        return Streamed(post(_PATH, ChatAnswer, body=body), _chunk, last="[DONE]")

    @operation
    def embed(self, **texts: Unpack[p.EmbeddingRequest]) -> Call[m.Embeddings]:
        """The vectors of texts, by the encoder that `models` lists."""
        return post("/v1/embeddings", m.Embeddings, body=texts)

    @operation
    def models(self) -> Call[ModelList]:
        """The models that a chat request can name."""
        return get("/v1/models", ModelList)

    @operation
    def model(self, name: str) -> Call[ListedModel]:
        """One of them."""
        return get("/v1/models/{name}", ListedModel, name)


def _chunk(data: str) -> ChatAnswer:
    piece = from_json(data)
    if isinstance(piece, dict) and (error := piece.get("error")):
        raise StreamCut(str(error.get("message", error) if isinstance(error, dict) else error))
    return ChatAnswer.model_validate(piece)
