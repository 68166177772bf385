"""The settings as the code reads them, and the fields of agents' and teams' documents."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from teams.domain.agent_document import AgentDocument
from teams.domain.documents import OWN_FIELDS, Leaf, Part, leaves
from teams.domain.team_settings import TeamSettings

# Where variables are read. Others are standard ones of libraries.
_PLACES = (
    "config/settings/*.py",
    "config/launcher.py",
    "config/telemetry.py",
    "config/web_server.py",
)
_KINDS = {
    "read_str": "text",
    "read_int": "whole number",
    "read_float": "number",
    "read_decimal": "exact number",
    "read_bool": "switch",
    "read_list": "list, by commas",
    "read_choice": "one of",
    "read_url": "address",
    "read_prefixed": "all of these names",
    "get": "text",
}


_TYPES = {"str": "text", "int": "whole number", "float": "number", "Decimal": "number"}
_TYPES["bool"] = "true or false"


@dataclass(frozen=True)
class Setting:
    """A variable: its name, `*` where several are meant, and the source of default and bounds."""

    name: str
    kind: str
    default: str
    bounds: str
    place: str


def settings_read(root: Path) -> list[Setting]:
    """Every variable that the code reads, by place and line; each name once."""
    found: dict[str, Setting] = {}
    for pattern in _PLACES:
        for path in sorted(root.glob(pattern)):
            tree = ast.parse(path.read_text())
            known = _constants(tree)
            for node in ast.walk(tree):
                for each in _setting(node, known, path.relative_to(root).as_posix()):
                    if found.get(each.name, each).default in {"", each.default}:
                        found[each.name] = each
    return list(found.values())


def settings_page(root: Path) -> str:
    """The page, as Markdown."""
    rows = [
        f"| `{each.name}` | {each.kind} | {_code(each.default)} | {_code(each.bounds)} |"
        f" `{each.place}` |"
        for each in sorted(settings_read(root), key=lambda each: (each.place, each.name))
    ]
    head = [
        "# Settings as the code reads them",
        "",
        "This page is made of the code, so defaults are expressions there."
        " [Configuration](../configuration.md) says what the settings are for.",
        "",
        "| variable | kind | default | bounds | read in |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows, ""])


def documents_page() -> str:
    """The page of the documents' fields, as Markdown."""
    lines = ["# Documents of agents and teams", "", "This page is made of the models in the code."]
    models: dict[str, type[Part]] = {
        "An agent's document": AgentDocument,
        "A team's settings": TeamSettings,
    }
    for title, model in models.items():
        lines += ["", f"## {title}", "", "| field | type | default | what it is |"]
        lines.append("|---|---|---|---|")
        for leaf in leaves(model):
            path = ".".join(leaf.path).replace(OWN_FIELDS, "…")
            default = leaf.default if leaf.default in (None, "", []) else json.dumps(leaf.default)
            cells = [_code(path), _type(leaf), _code(default or ""), leaf.description]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _type(leaf: Leaf) -> str:
    choices = leaf.choices
    if leaf.kind is list:
        if isinstance(leaf.item, type) and issubclass(leaf.item, Part):
            choices = tuple(each.path[-1] for each in leaves(leaf.item))
        return f"list of {', '.join(map(_code, choices)) or 'texts'}"
    kind = ", ".join(map(_code, choices)) or _TYPES[leaf.kind.__name__]
    return f"{kind} {leaf.range}".strip()


def _setting(node: ast.AST, known: Mapping[str, str], place: str) -> Iterator[Setting]:
    if not isinstance(node, ast.Call) or not node.args:
        return
    reader = node.func.id if isinstance(node.func, ast.Name) else ""
    if isinstance(node.func, ast.Attribute) and ast.unparse(node.func) == "os.environ.get":
        reader = "get"
    name = _name(node.args[0], known)
    if reader not in _KINDS or name == "*":
        return
    if reader == "read_prefixed":
        name += "*"
    default = ast.unparse(node.args[1]) if len(node.args) > 1 else ""
    bounds = ", ".join(f"{each.arg} {ast.unparse(each.value)}" for each in node.keywords)
    yield Setting(name, _KINDS[reader], default, bounds, place)


def _name(node: ast.expr, known: Mapping[str, str]) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Name):
        return known.get(node.id, "*")
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "*" for part in node.values
        )
    return "*"


def _constants(tree: ast.Module) -> dict[str, str]:
    """The module's names of texts."""
    return {
        target.id: str(node.value.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""
