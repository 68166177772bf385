"""Providers and models that answer for the team's agents."""

from __future__ import annotations

from typing import Unpack

from palimpsest_client import models as m
from palimpsest_client import params as p
from palimpsest_client.calls import Call, Id, Paged, get, pages, post
from palimpsest_client.operations import Resource, SenderT, operation


class Providers(Resource[SenderT]):
    """`/v1/providers`; needs a key of the team."""

    @operation
    def list(self, **query: Unpack[p.ProvidersListQuery]) -> Paged[m.ProviderPage, m.Provider]:
        """The team's providers, the latest first."""
        return pages("/v1/providers", m.ProviderPage, query=query)

    @operation
    def create(self, **provider: Unpack[p.NewProvider]) -> Call[m.Provider]:
        """Add one; its key is never shown."""
        return post("/v1/providers", m.Provider, body=provider)

    @operation
    def get(self, provider_id: Id) -> Call[m.Provider]:
        """One provider."""
        return get("/v1/providers/{id}", m.Provider, provider_id)

    @operation
    def change(self, provider_id: Id, **change: Unpack[p.ProviderChange]) -> Call[m.Provider]:
        """Change it; what is left out stays."""
        return Call("PATCH", "/v1/providers/{id}", {200: m.Provider}, (provider_id,), body=change)

    @operation
    def delete(self, provider_id: Id) -> Call[None]:
        """Remove it, once it has no models."""
        return Call("DELETE", "/v1/providers/{id}", {204: None}, (provider_id,))

    @operation
    def test(self, provider_id: Id) -> Call[m.EndpointCheck]:
        """Returns how it answers."""
        return post("/v1/providers/{id}/test", m.EndpointCheck, provider_id)


class ChatModels(Resource[SenderT]):
    """`/v1/chat-models`; needs a key of the team."""

    @operation
    def list(self, **query: Unpack[p.ChatModelsListQuery]) -> Paged[m.ChatModelPage, m.ChatModel]:
        """The team's models, the latest first."""
        return pages("/v1/chat-models", m.ChatModelPage, query=query)

    @operation
    def create(self, **model: Unpack[p.NewChatModel]) -> Call[m.ChatModel]:
        """Add one."""
        return post("/v1/chat-models", m.ChatModel, body=model)

    @operation
    def get(self, model_id: Id) -> Call[m.ChatModel]:
        """One model."""
        return get("/v1/chat-models/{id}", m.ChatModel, model_id)

    @operation
    def change(self, model_id: Id, **change: Unpack[p.ChatModelChange]) -> Call[m.ChatModel]:
        """Change its tier, prices or limits; what is left out stays."""
        return Call("PATCH", "/v1/chat-models/{id}", {200: m.ChatModel}, (model_id,), body=change)

    @operation
    def delete(self, model_id: Id) -> Call[None]:
        """Remove it."""
        return Call("DELETE", "/v1/chat-models/{id}", {204: None}, (model_id,))
