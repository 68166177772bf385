"""ONNX graphs of the encoder: word vectors in, a sentence vector or a head's logits out.

The word vectors are no part of a graph: all graphs share one int8 table, which `Words` maps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from benchmarks.training.data import Tensors

HIDDEN: Final = 384
HEADS: Final = 12
LAYERS: Final = 6
_HEAD_SIZE: Final = HIDDEN // HEADS
_OPSET: Final = 17


class _Graph:
    """Collects nodes and initializers; each method returns the name of its output."""

    def __init__(self, tensors: Tensors) -> None:
        self._tensors = tensors
        self._initializers: dict[str, Any] = {}  # Any: a TensorProto, which onnx leaves untyped
        self._nodes: list[Any] = []  # Any: a NodeProto

    def constant(self, name: str, value: Any) -> str:  # Any: an array or a number of any type
        self._initializers[name] = numpy_helper.from_array(np.array(value, order="C"), name)
        return name

    def tensor(self, name: str, *, transposed: bool = False) -> str:
        value = self._tensors[name].astype(np.float32)
        return self.constant(name, value.T if transposed else value)

    def op(self, kind: str, *inputs: str, out: str, **attributes: Any) -> str:  # Any: onnx's own
        self._nodes.append(helper.make_node(kind, list(inputs), [out], name=out, **attributes))
        return out

    def integers(self, *values: int) -> str:
        return self.constant("i" + "_".join(map(str, values)), np.array(values, np.int64))

    def scalar(self, value: float) -> str:
        return self.constant(f"f{value}", np.float32(value))

    def linear(self, x: str, name: str) -> str:
        product = self.op("MatMul", x, self.tensor(f"{name}.weight", transposed=True), out=name)
        return self.op("Add", product, self.tensor(f"{name}.bias"), out=f"{name}.out")

    def norm(self, x: str, name: str) -> str:
        scale, shift = self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias")
        return self.op(
            "LayerNormalization", x, scale, shift, out=f"{name}.out", axis=-1, epsilon=1e-12
        )

    def gelu(self, x: str, name: str) -> str:
        scaled = self.op("Div", x, self.scalar(2**0.5), out=f"{name}.scaled")
        erf = self.op("Erf", scaled, out=f"{name}.erf")
        raised = self.op("Add", erf, self.scalar(1.0), out=f"{name}.raised")
        half = self.op("Mul", x, self.scalar(0.5), out=f"{name}.half")
        return self.op("Mul", half, raised, out=f"{name}.gelu")

    def model(self, *, inputs: dict[str, tuple[int, list[Any]]], output: str, size: int) -> Any:
        """The checked ModelProto."""
        graph = helper.make_graph(
            self._nodes,
            "encoder",
            [helper.make_tensor_value_info(name, *value) for name, value in inputs.items()],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", size])],
            list(self._initializers.values()),
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)])
        made.ir_version = 9
        onnx.checker.check_model(made)
        return made


def write_graph(*, tensors: Tensors, path: Path, pools: str) -> None:
    """Writes the int8 graph of one model.

    `pools` is "embedding" for the mean of all tokens as a unit vector, "pair" for a head over the
    first token and the mean of all, "sentence" for one over the first token and the mean of the
    second segment; the head is `head.weight` (outputs × 768) and `head.bias`.
    """
    g = _Graph(tensors)
    hidden = _hidden_states(g)
    mask = g.op("Mul", "mask", "types", out="second") if pools == "sentence" else "mask"
    mean = _mean(g, hidden, mask)
    if pools == "embedding":
        output, size = g.op("LpNormalization", mean, out="embedding", axis=-1, p=2), HIDDEN
    else:
        first = g.op("Gather", hidden, g.constant("zero", np.int64(0)), out="first", axis=1)
        pooled = g.op("Concat", first, mean, out="pooled", axis=-1)
        output = g.linear(pooled, "head")
        size = tensors["head.bias"].shape[0]
    two, three = ["batch", "tokens"], ["batch", "tokens", HIDDEN]
    given: dict[str, tuple[int, list[Any]]] = {
        "words": (TensorProto.FLOAT, three),
        "mask": (TensorProto.FLOAT, two),
        "types": (TensorProto.FLOAT, two),
    }
    made = g.model(inputs=given, output=output, size=size)
    whole = path.with_suffix(".float.onnx")
    onnx.save(made, str(whole))
    quantize_dynamic(
        str(whole),
        str(path),
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul"],
        # The head is small, and rounding it costs accuracy.
        nodes_to_exclude=["head"],
    )
    whole.unlink()


def _hidden_states(g: _Graph) -> str:
    table = g.tensor("embeddings.position_embeddings.weight")
    shape = g.op("Shape", "mask", out="shape")
    length = g.op("Slice", shape, g.integers(1), g.integers(2), g.integers(0), out="length")
    places = g.op("Slice", table, g.integers(0), length, g.integers(0), out="places")
    types = g._tensors["embeddings.token_type_embeddings.weight"].astype(np.float32)
    wide = g.op("Unsqueeze", "types", g.integers(2), out="types3")
    shift = g.op("Mul", wide, g.constant("type_shift", types[1] - types[0]), out="typed")
    x = g.op("Add", "words", places, out="placed")
    x = g.op("Add", x, g.constant("type_zero", types[0]), out="with_type")
    x = g.norm(g.op("Add", x, shift, out="summed"), "embeddings.LayerNorm")
    spread = g.op("Unsqueeze", "mask", g.integers(1, 2), out="mask4")
    hidden = g.op("Sub", g.scalar(1.0), spread, out="hidden_places")
    bias = g.op("Mul", hidden, g.scalar(-10000.0), out="attention_bias")
    for layer in range(LAYERS):
        x = _layer(g, x, bias, f"encoder.layer.{layer}.")
    return x


def _layer(g: _Graph, x: str, bias: str, name: str) -> str:
    def heads(part: str) -> str:
        wide = g.linear(x, f"{name}attention.self.{part}")
        split = g.op(
            "Reshape", wide, g.integers(0, 0, HEADS, _HEAD_SIZE), out=f"{name}{part}.split"
        )
        return g.op("Transpose", split, out=f"{name}{part}.heads", perm=[0, 2, 1, 3])

    query, key, value = heads("query"), heads("key"), heads("value")
    turned = g.op("Transpose", key, out=f"{name}key.turned", perm=[0, 1, 3, 2])
    product = g.op("MatMul", query, turned, out=f"{name}product")
    scaled = g.op("Div", product, g.scalar(_HEAD_SIZE**0.5), out=f"{name}scaled")
    shares = g.op(
        "Softmax", g.op("Add", scaled, bias, out=f"{name}biased"), out=f"{name}shares", axis=-1
    )
    mixed = g.op("MatMul", shares, value, out=f"{name}mixed")
    joined = g.op("Transpose", mixed, out=f"{name}joined", perm=[0, 2, 1, 3])
    flat = g.op("Reshape", joined, g.integers(0, 0, HIDDEN), out=f"{name}flat")
    attended = g.linear(flat, f"{name}attention.output.dense")
    x = g.norm(g.op("Add", attended, x, out=f"{name}first"), f"{name}attention.output.LayerNorm")
    inner = g.gelu(g.linear(x, f"{name}intermediate.dense"), f"{name}intermediate")
    outer = g.linear(inner, f"{name}output.dense")
    return g.norm(g.op("Add", outer, x, out=f"{name}second"), f"{name}output.LayerNorm")


def _mean(g: _Graph, hidden: str, mask: str) -> str:
    wide = g.op("Unsqueeze", mask, g.integers(2), out="mask3")
    total = g.op(
        "ReduceSum",
        g.op("Mul", hidden, wide, out="masked"),
        g.integers(1),
        out="total",
        keepdims=0,
    )
    count = g.op("ReduceSum", wide, g.integers(1), out="count", keepdims=0)
    some = g.op("Max", count, g.scalar(1.0), out="some")
    return g.op("Div", total, some, out="mean")


def write_words(*, tensors: Tensors, path: Path) -> None:
    """Writes the word table: int8 rows, each behind its scale as four bytes of a float32."""
    table = tensors["embeddings.word_embeddings.weight"].astype(np.float32)
    scale = np.maximum(np.abs(table).max(axis=1), 1e-6).astype(np.float32) / 127
    rows = np.round(table / scale[:, None]).astype(np.int8)
    np.save(path, np.concatenate([scale[:, None].view(np.int8), rows], axis=1))
