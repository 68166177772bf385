"""Fine-tunes the base encoder with a head, in JAX on any device; word vectors stay as they are.

The word vectors are those of the shared int8 table, so that training sees what inference sees.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray
from tokenizers import Encoding

from benchmarks.training.data import Tensors
from benchmarks.training.graph import HEADS, HIDDEN, LAYERS
from memory.understanding.encoder import padded

_HEAD_SIZE: Final = HIDDEN // HEADS
_LENGTHS: Final = (16, 24, 32, 40, 48, 64, 80, 96, 112, 128)
_BATCH: Final = 32
_DROPPED: Final = 0.1
_SORTED_BATCHES: Final = 16

Params = dict[str, Any]  # Any: jax arrays
# From logits (batch × outputs) and the batch's targets to the mean loss.
Loss = Callable[[Any, Params], Any]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The length and rate of a model's training; `seed` fixes its head and the order."""

    epochs: int
    rate: float
    outputs: int
    pools: str
    seed: int = 0


def fine_tune(
    *,
    tensors: Tensors,
    encodings: Sequence[Encoding],
    targets: dict[str, NDArray[Any]],  # Any: of floats or of integers
    loss: Loss,
    recipe: Recipe,
    told: Callable[[str], object] = print,
) -> Tensors:
    """Returns the encoder's tensors after training, with `head.weight` and `head.bias`.

    `targets` has arrays of as many rows as there are encodings.
    """
    rng = np.random.default_rng(recipe.seed)
    words = tensors["embeddings.word_embeddings.weight"]
    kept = ("word_embeddings", "position_ids", "pooler")
    params: Params = {
        name: jnp.asarray(value)
        for name, value in tensors.items()
        if not any(each in name for each in kept)
    }
    params["head.weight"] = jnp.asarray(
        rng.normal(0, 0.02, (recipe.outputs, 2 * HIDDEN)).astype(np.float32)
    )
    params["head.bias"] = jnp.zeros(recipe.outputs)
    steps = recipe.epochs * (len(encodings) // _BATCH)
    schedule = optax.warmup_cosine_decay_schedule(0, recipe.rate, max(1, steps // 10), steps)
    optimiser = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=0.01)
    )
    state = optimiser.init(params)

    @jax.jit  # type: ignore[untyped-decorator]  # jax may be missing
    def step(params: Params, state: Any, given: Params, key: Any) -> Any:
        def total(params: Params) -> Any:
            return loss(_forward(params, given, recipe.pools, key), given)

        value, gradient = jax.value_and_grad(total)(params)
        updates, state = optimiser.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    key = jax.random.PRNGKey(recipe.seed)
    started, done = time.monotonic(), 0
    for epoch in range(recipe.epochs):
        for places in _batches(encodings, rng, epoch):
            given = _given(encodings, words, targets, places)
            key, own = jax.random.split(key)
            params, state, value = step(params, state, given, own)
            done += 1
            if done % 50 == 0:
                took = time.monotonic() - started
                told(f"step {done} of {steps}, loss {float(value):.3f}, {took:.0f} s")
    trained = {name: np.asarray(value, dtype=np.float32) for name, value in params.items()}
    return {**tensors, **trained}


def _batches(
    encodings: Sequence[Encoding], rng: np.random.Generator, epoch: int
) -> list[list[int]]:
    """Shuffled batches of texts of similar length."""
    order = rng.permutation(len(encodings)).tolist()
    size = _BATCH * _SORTED_BATCHES
    runs = [
        sorted(order[start : start + size], key=lambda place: len(encodings[place]))
        for start in range(0, len(order), size)
    ]
    batches = [
        run[start : start + _BATCH]
        for run in runs
        for start in range(0, len(run) - _BATCH + 1, _BATCH)
    ]
    random.Random(epoch).shuffle(batches)
    return batches


def _given(
    encodings: Sequence[Encoding],
    words: NDArray[np.float32],
    targets: dict[str, NDArray[Any]],
    places: Sequence[int],
) -> Params:
    ids, mask, types = padded([encodings[place] for place in places])
    # Few lengths, so that few programs are compiled.
    length = next(each for each in _LENGTHS if each >= ids.shape[1])
    wide = [np.pad(each, ((0, 0), (0, length - each.shape[1]))) for each in (ids, mask, types)]
    batch = {"words": words[wide[0]], "mask": wide[1], "types": wide[2]}
    return batch | {name: values[list(places)] for name, values in targets.items()}


def _forward(params: Params, given: Params, pools: str, key: Any) -> Any:
    mask, types = given["mask"], given["types"]
    places = params["embeddings.position_embeddings.weight"][None, : mask.shape[1]]
    kinds = params["embeddings.token_type_embeddings.weight"]
    segments = kinds[0] + types[:, :, None] * (kinds[1] - kinds[0])
    x = _norm(params, given["words"] + places + segments, "embeddings.LayerNorm")
    bias = (1 - mask)[:, None, None, :] * -1e4
    for layer in range(LAYERS):
        key, one, other = jax.random.split(key, 3)
        x = _layer(params, x, bias, f"encoder.layer.{layer}.", (one, other))
    mean_of = mask * types if pools == "sentence" else mask
    mean = (x * mean_of[:, :, None]).sum(1) / jnp.maximum(mean_of.sum(1, keepdims=True), 1.0)
    pooled = jnp.concatenate([x[:, 0], mean], -1)
    return pooled @ params["head.weight"].T + params["head.bias"]


def _layer(params: Params, x: Any, bias: Any, name: str, keys: tuple[Any, Any]) -> Any:
    def heads(part: str) -> Any:
        wide = _linear(params, x, f"{name}attention.self.{part}")
        return wide.reshape(*wide.shape[:2], HEADS, _HEAD_SIZE).transpose(0, 2, 1, 3)

    query, key, value = heads("query"), heads("key"), heads("value")
    shares = jax.nn.softmax(query @ key.transpose(0, 1, 3, 2) / _HEAD_SIZE**0.5 + bias, -1)
    mixed = (shares @ value).transpose(0, 2, 1, 3).reshape(x.shape)
    attended = _linear(params, mixed, f"{name}attention.output.dense")
    x = _norm(params, x + _drop(attended, keys[0]), f"{name}attention.output.LayerNorm")
    inner = jax.nn.gelu(_linear(params, x, f"{name}intermediate.dense"), approximate=False)
    outer = _linear(params, inner, f"{name}output.dense")
    return _norm(params, x + _drop(outer, keys[1]), f"{name}output.LayerNorm")


def _linear(params: Params, x: Any, name: str) -> Any:
    return x @ params[f"{name}.weight"].T + params[f"{name}.bias"]


def _norm(params: Params, x: Any, name: str) -> Any:
    mean = x.mean(-1, keepdims=True)
    spread = ((x - mean) ** 2).mean(-1, keepdims=True)
    scaled = (x - mean) * jax.lax.rsqrt(spread + 1e-12)
    return scaled * params[f"{name}.weight"] + params[f"{name}.bias"]


def _drop(x: Any, key: Any) -> Any:
    return jnp.where(jax.random.bernoulli(key, 1 - _DROPPED, x.shape), x / (1 - _DROPPED), 0)
