"""Imports of the open file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.satellites.plans.imports import imports_of, is_imported, names_of_imported


def test_python_imports_are_read_while_the_file_has_errors() -> None:
    text = "import app.models as m, os\nfrom ..auth import login, tokens as t\ndef broken(:\n"

    assert imports_of(path="src/app/api/views.py", text=text) == (
        "app/models",
        "os",
        "src/app/auth",
        "src/app/auth/login",
        "src/app/auth/tokens",
    )


@pytest.mark.parametrize("path", ["web/pages/cart.ts", "web/pages/cart.tsx"])
def test_modules_of_scripts_are_resolved_from_the_folder(path: str) -> None:
    text = "import a from './item'\nimport '../api/client.js'\nexport { b } from 'shop/prices'"

    assert imports_of(path=path, text=text) == ("web/pages/item", "web/api/client", "shop/prices")


@pytest.mark.parametrize("path", ["main.go", "main.js", "README.md", ""])
def test_other_files_import_nothing(path: str) -> None:
    assert imports_of(path=path, text='import "fmt"') == ()


def test_a_module_may_stand_in_a_folder_of_sources() -> None:
    opened = "tests/test_views.py"

    assert names_of_imported(["app/_models"], path=opened) == ["models.py", "models.pyi"]
    assert is_imported("src/app/models.py", ["app/models"], path=opened)
    assert is_imported("tests/json.py", ["json"], path=opened)
    assert not is_imported("src/json.py", ["json"], path=opened)


@given(st.text(max_size=300), st.sampled_from(["a/b.py", "a/b.tsx", "b.ts"]))
def test_no_text_breaks_the_reader(text: str, path: str) -> None:
    assert all(each and not each.startswith("..") for each in imports_of(path=path, text=text))
