"""The examples of the client in the READMEs run."""

from __future__ import annotations

import re
from pathlib import Path

import palimpsest_client
import pytest

from tests.clients.conftest import Place

FOLDER = Path(palimpsest_client.__file__).parents[1]
EXAMPLES = [
    example
    for readme in (FOLDER / "README.md", FOLDER.parents[1] / "README.md")
    for example in re.findall(r"```python\n(.*?)```", readme.read_text(), re.S)
    if "palimpsest_client" in example
]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs(number: int, place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    text = EXAMPLES[number].replace("http://127.0.0.1:8000", place.url)

    exec(compile(text.replace("pal_…", place.key()), "README.md", "exec"), {})

    said = capsys.readouterr().out
    stored = re.findall(r'content(?:=|": )"(.*?)"', text)
    # Memories say it in their own words.
    assert stored
    assert all(each.split()[-1].rstrip(".") in said for each in stored)
