"""The documentation as a site (`make docs`): Sphinx over the Markdown as it stands in the project.

The folder of the project is the source, so that links are what they are in a repository's browser.
Three pages are made of the code: the API from its schema, the settings from where they are read,
the documents of agents and teams from their models.
"""

import json
import sys
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

project = "Palimpsest"
author = copyright = "Palimpsest contributors"  # noqa: A001 - Sphinx's name
root_doc = "docs/index"
include_patterns = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "clients/*/README.md",
    "docs/**.md",
    "examples/**.md",
    "memory/satellites/*/docs.md",
    "memory/understanding/weights/CARD.md",
]
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page of ours may begin below its heading

html_theme = "furo"
html_title = "Palimpsest"
html_extra_path = ["site"]
html_copy_source = False
html_theme_options = {"source_repository": "", "top_of_page_buttons": []}


def _write_references(_: Sphinx) -> None:
    """Write the generated pages, where they would change."""
    from docs.api_reference import api_page
    from docs.settings_reference import documents_page, settings_page

    schema = json.loads((ROOT / "build" / "openapi.json").read_text())
    folder = ROOT / "docs" / "reference"
    folder.mkdir(exist_ok=True)
    pages = {
        "api.md": api_page(schema),
        "settings.md": settings_page(ROOT),
        "documents.md": documents_page(),
    }
    for name, text in pages.items():
        if not (folder / name).exists() or (folder / name).read_text() != text:
            (folder / name).write_text(text)


def setup(app: Sphinx) -> None:
    """Make the generated pages; show diagrams as their text, which needs no program of others."""
    app.connect("builder-inited", _write_references)
    app.add_lexer("mermaid", TextLexer)
