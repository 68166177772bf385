"""The examples of the client's README run."""

from __future__ import annotations

import re
from pathlib import Path

import palimpsest_client
import pytest

from tests.clients.conftest import Place

README = Path(palimpsest_client.__file__).parents[1] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs(number: int, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    text = EXAMPLES[number].replace("http://127.0.0.1:8000", place.url)

    exec(compile(text.replace("pal_…", place.key()), str(README), "exec"), {})

    said = capsys.readouterr().out
    assert ("tea black" in said and "Oslo" in said) if number == 0 else "oven" in said
