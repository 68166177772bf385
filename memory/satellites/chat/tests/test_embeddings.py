"""Embeddings by the official client, and the Responses API, which is refused by name."""

from __future__ import annotations

import numpy as np
import openai
import pytest

from memory.understanding.tools import default_tools
from tests.support.chat import Town

TEXTS = ["Sarah drinks tea.", "Tea is what Sarah drinks.", "The bridge was closed in May."]


@pytest.fixture
def encoder() -> str:
    """The name of the server's encoder."""
    return default_tools().embedder.name


def test_texts_are_embedded_by_the_encoder_that_the_list_names(town: Town, encoder: str) -> None:
    client = town.client()
    listed = {each.id for each in client.models.list()}

    # The client asks for base64 unless told otherwise.
    packed = client.embeddings.create(model=encoder, input=TEXTS)
    plain = client.embeddings.create(model=encoder, input=TEXTS, encoding_format="float")
    one = client.embeddings.create(model=encoder, input=TEXTS[0])

    assert encoder in listed
    assert client.models.retrieve(encoder).owned_by == "palimpsest"
    vectors = np.array([each.embedding for each in packed.data])
    assert [each.index for each in packed.data] == [0, 1, 2]
    assert np.allclose(vectors, [each.embedding for each in plain.data])
    assert np.allclose(vectors[0], one.data[0].embedding, atol=0.01)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert packed.usage.total_tokens == packed.usage.prompt_tokens > 0


def test_a_model_that_does_not_embed_is_refused_with_the_one_that_does(
    town: Town, encoder: str
) -> None:
    for name in ("text-embedding-3-small", "kyra"):
        with pytest.raises(openai.NotFoundError, match=encoder) as refused:
            town.client().embeddings.create(model=name, input="Tea.")
        assert (refused.value.code, refused.value.param) == ("model_not_found", "model")


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"input": ""}, "input"),
        ({"input": []}, "input"),
        ({"input": [1, 2]}, "input"),
        ({"input": [[1, 2]]}, "input"),
        ({"input": ["x"] * 501}, "input"),
        ({"input": "x", "dimensions": 7}, "dimensions"),
        ({"input": "x", "encoding_format": "hex"}, "encoding_format"),
    ],
)
def test_what_cannot_be_embedded_is_refused_by_its_field(
    town: Town, encoder: str, given: dict[str, object], param: str
) -> None:
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        town.client().post("/embeddings", cast_to=object, body={"model": encoder, **given})

    assert str(refused.value.param).startswith(param)


def test_the_responses_api_is_refused_with_what_to_use(town: Town) -> None:
    with pytest.raises(openai.NotFoundError, match="/v1/chat/completions"):
        town.client().responses.create(model="kyra", input="Hi.")
    with pytest.raises(openai.NotFoundError, match="/v1/chat/completions"):
        town.client().responses.create(model="kyra", input="Hi.", stream=True)
