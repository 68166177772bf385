"""Embeddings in the protocol, by the encoder that the server's own search uses."""

from __future__ import annotations

import math
from base64 import b64encode
from typing import Any

import numpy as np
from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from numpy.typing import NDArray
from rest_framework import serializers
from rest_framework.response import Response

from memory.api.base import Given, operation
from memory.api.fields import OneOfField, StrictIntegerField, TextField
from memory.api.schemas import PER_REQUEST, ApiSerializer, StrictSerializer
from memory.satellites.chat.protocol import ProtocolViewSet
from memory.understanding.embedders import OPENAI, spec_of
from memory.understanding.ports import Embedder
from memory.understanding.tools import default_tools
from routing.domain.choices import CHARS_PER_TOKEN
from teams.errors import NotFoundError

_TEXT = {"type": "string", "minLength": 1, "maxLength": settings.MAX_CONTENT_CHARS}


@extend_schema_field(
    {
        "oneOf": [
            _TEXT,
            {"type": "array", "items": _TEXT, "minItems": 1, "maxItems": PER_REQUEST},
        ]
    }
)
class TextsField(serializers.Field[list[str], Any, Any, Any]):
    """A text, or several; token ids would be those of another model."""

    def to_internal_value(self, data: Any) -> list[str]:  # Any: whatever the body holds
        given = [data] if isinstance(data, str) else data
        if isinstance(given, list) and any(isinstance(each, int | list) for each in given):
            raise serializers.ValidationError("Send texts, not token ids.")
        texts = serializers.ListField(
            child=TextField(max_length=settings.MAX_CONTENT_CHARS),
            min_length=1,
            max_length=PER_REQUEST,
        )
        checked: list[str] = texts.run_validation(given)
        return checked


class EmbeddingRequestSerializer(StrictSerializer):
    """Texts to embed."""

    example = {"model": "onnx/all-MiniLM-L6-v2", "input": ["Sarah drinks her tea without milk."]}

    model = TextField(max_length=200, help_text="As `GET /v1/models` lists it.")
    input = TextsField()
    encoding_format = OneOfField(choices=["float", "base64"], required=False, default="float")
    dimensions = StrictIntegerField(
        required=False, min_value=1, help_text="Only the size that the model has."
    )
    user = TextField(required=False, allow_null=True, allow_blank=True, help_text="Not used.")


@extend_schema_field(
    {"oneOf": [{"type": "array", "items": {"type": "number"}}, {"type": "string"}]}
)
class VectorField(serializers.Field[Any, Any, Any, Any]):
    """A vector as numbers, or its 32-bit floats in base64."""

    def to_representation(self, value: Any) -> Any:  # Any: as above
        return value


class EmbeddingSerializer(ApiSerializer):
    """The unit vector of one text."""

    object = serializers.CharField()
    index = serializers.IntegerField()
    embedding = VectorField()


class EmbeddingUsageSerializer(ApiSerializer):
    """The number of tokens, estimated by characters."""

    prompt_tokens = serializers.IntegerField()
    total_tokens = serializers.IntegerField()


class EmbeddingsSerializer(ApiSerializer):
    """The vectors in the order of their texts."""

    object = serializers.CharField()
    model = serializers.CharField()
    data_ = EmbeddingSerializer(many=True)
    usage = EmbeddingUsageSerializer()


class EmbeddingViewSet(ProtocolViewSet):
    """Embeddings by the server's own encoder."""

    only_reads = True
    serializer_class = EmbeddingRequestSerializer

    @operation(
        "embeddings",
        body=EmbeddingRequestSerializer,
        answer=EmbeddingsSerializer,
        refuses=(403, 404, 422),
    )
    def create(self, given: Given) -> Response:
        """OpenAI-compatible embeddings by the encoder of the server's search.

        It runs on the server and costs nothing. A text longer than the encoder reads is embedded
        by its beginning. Models of providers are not asked.
        """
        embedder = served_embedder()
        if embedder is None or given["model"] != embedder.name:
            served = f" It has '{embedder.name}'." if embedder else ""
            raise NotFoundError(
                f"This server has no embedding model '{given['model']}'.{served}", field="model"
            )
        texts, wanted = given["input"], given.get("dimensions")
        vectors = embedder.embed(texts)
        size = vectors.shape[1]
        if wanted not in (None, size):
            problem = f"{embedder.name} has {size} dimensions: leave it out, or send {size}."
            raise serializers.ValidationError({"dimensions": [problem]})
        tokens = sum(math.ceil(len(text) / CHARS_PER_TOKEN) for text in texts)
        written = _in_base64 if given["encoding_format"] == "base64" else _as_numbers
        answer = {
            "object": "list",
            "model": embedder.name,
            "data": [
                {"object": "embedding", "index": index, "embedding": written(vector)}
                for index, vector in enumerate(vectors)
            ],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
        return Response(EmbeddingsSerializer(answer).data)


def served_embedder() -> Embedder | None:
    """Returns the encoder that runs on this server; None where another endpoint embeds."""
    embedder = default_tools().embedder
    return None if spec_of(embedder.name).provider == OPENAI else embedder


def _as_numbers(vector: NDArray[np.float32]) -> list[float]:
    return [float(each) for each in vector]


def _in_base64(vector: NDArray[np.float32]) -> str:
    return b64encode(vector.astype("<f4").tobytes()).decode()
