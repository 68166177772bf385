"""SQL that is kept in files beside the modules that run it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_PART = re.compile(r"^-- part: (\w+)\n", re.MULTILINE)
_COMMENT = re.compile(r"^ *--.*\n", re.MULTILINE)


@cache
def load_sql_parts(module_file: str, name: str) -> Mapping[str, str]:
    """Parts of the file `name` beside a module, without comments; `-- part: NAME` begins each."""
    _, *pieces = _PART.split(Path(module_file).with_name(name).read_text(encoding="utf-8"))
    texts = [_COMMENT.sub("", piece).strip() for piece in pieces[1::2]]
    return dict(zip(pieces[::2], texts, strict=True))
