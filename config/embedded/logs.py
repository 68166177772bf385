"""Logs of a bounded size."""

import os
import shutil
from pathlib import Path

MOST_BYTES = 10 * 1024 * 1024


def rotate(log: Path, *, most_bytes: int = MOST_BYTES) -> bool:
    """Begin a log anew that is longer than `most_bytes`; what it held replaces `NAME.log.1`.

    Whoever writes to it goes on, in the same file opened to append. A line that is written between
    the copy and the cut is lost.
    """
    try:
        if log.stat().st_size <= most_bytes:
            return False
    except FileNotFoundError:
        return False
    kept = log.with_suffix(".log.1")
    fresh = log.with_suffix(".log.new")
    shutil.copy(log, fresh)  # with its mode
    fresh.replace(kept)
    os.truncate(log, 0)
    return True
