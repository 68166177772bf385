"""Sentence encoders of an operator's own folder, tried with graphs of a few hundred bytes.

The stubs look up a vector of three numbers for each token: (3, 0, 0) for "tea", (0, 4, 0) for
"coffee", (0, 0, 5) for "water", and (9, 9, 9) for unknown words. `tokens.onnx` takes
all three inputs and gives the tokens' vectors, `sentence.onnx` takes two and gives their sum.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from pytest_django import Settings
from tokenizers import Tokenizer, models, pre_tokenizers

from memory.understanding.active_embedder import ActiveEmbedder
from memory.understanding.embedders import SentenceEncoder, build_embedder, configured_spec
from routing.clients.protocol import EmbeddingError, FailureKind

_STUBS = Path(__file__).parents[2] / "support" / "stub_encoders"
_VOCABULARY = {"[PAD]": 0, "[UNK]": 1, "tea": 2, "coffee": 3, "water": 4}


def folder_with(tmp_path: Path, stub: str, *, place: str = "model.onnx") -> Path:
    """A folder as sentence-transformers lays it out."""
    graph = tmp_path / place
    graph.parent.mkdir(exist_ok=True)
    shutil.copy(_STUBS / stub, graph)
    tokenizer = Tokenizer(models.WordLevel(_VOCABULARY, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def write_json(folder: Path, name: str, document: dict[str, object]) -> None:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document))


@pytest.mark.parametrize("place", ["model.onnx", "onnx/model.onnx"])
def test_the_vectors_of_tokens_are_averaged(tmp_path: Path, place: str) -> None:
    encoder = SentenceEncoder(folder_with(tmp_path, "tokens.onnx", place=place))

    assert encoder.dimensions == 3
    assert np.allclose(encoder.encode("tea coffee"), [0.6, 0.8, 0])
    assert np.allclose(encoder.encode("tea tea coffee"), np.asarray([6, 4, 0]) / 52**0.5)


def test_the_vector_of_a_sentence_is_taken_where_the_graph_gives_one(tmp_path: Path) -> None:
    encoder = SentenceEncoder(folder_with(tmp_path, "sentence.onnx"))

    assert np.allclose(encoder.encode("tea coffee"), [0.6, 0.8, 0])


def test_the_first_token_stands_for_the_text_where_the_folder_says_so(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "tokens.onnx")
    write_json(
        folder,
        "1_Pooling/config.json",
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False},
    )

    assert SentenceEncoder(folder).encode("coffee tea tea").tolist() == [0, 1, 0]


def test_no_more_tokens_are_read_than_the_folder_says(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "tokens.onnx")
    write_json(folder, "sentence_bert_config.json", {"max_seq_length": 2})

    assert SentenceEncoder(folder).encode("tea tea water").tolist() == [1, 0, 0]


def test_a_folder_is_an_embedder_of_the_settings(tmp_path: Path, settings: Settings) -> None:
    settings.EMBEDDING_PROVIDER = "onnx"
    settings.EMBEDDING_MODEL = str(folder_with(tmp_path, "tokens.onnx"))
    active = ActiveEmbedder(configured=configured_spec(), read_state=lambda: None)

    found = active.embed(["tea", " ", "tea coffee"])

    assert np.allclose(found, np.asarray([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.6, 0.8, 0.0]]))
    assert active.name == f"onnx/{tmp_path}"
    assert active.dimensions == 3


def test_a_folder_without_a_graph_or_a_tokenizer_is_refused_by_name(
    tmp_path: Path, settings: Settings
) -> None:
    settings.EMBEDDING_MODEL = str(tmp_path)
    with pytest.raises(EmbeddingError, match=r"neither model\.onnx nor onnx/model\.onnx") as none:
        build_embedder(configured_spec())
    shutil.copy(_STUBS / "tokens.onnx", tmp_path / "model.onnx")
    with pytest.raises(EmbeddingError, match=r"tokenizer\.json"):
        build_embedder(configured_spec())
    (tmp_path / "model.onnx").write_bytes(b"no graph")

    with pytest.raises(EmbeddingError, match="No sentence encoder can be read"):
        build_embedder(configured_spec())

    assert none.value.kind is FailureKind.MISCONFIGURED


def test_another_pooling_is_refused(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "tokens.onnx")
    write_json(folder, "1_Pooling/config.json", {"pooling_mode_mean_tokens": False})

    with pytest.raises(EmbeddingError, match="neither by their mean nor by the first"):
        SentenceEncoder(folder)
