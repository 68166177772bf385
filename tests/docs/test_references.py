"""The documents agree with the code about settings, metrics and the API."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from math import prod
from pathlib import Path

import pytest
import yaml
from django.test import Client
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from prometheus_client.parser import text_string_to_metric_families

from config.backup_times import note_verified_backup
from config.embedded import PROJECT_ROOT
from config.metrics import LATENCY, REQUESTS
from docs.api_reference import api_page
from docs.settings_reference import Setting, documents_page, settings_page, settings_read
from memory.reading.snapshots import READS

DOCS = PROJECT_ROOT / "docs"
# Read where no setting of the server is: by a shell's `make`, by libraries.
ELSEWHERE = {"PALIMPSEST_HOME", "TIKTOKEN_CACHE_DIR"}
# For nobody to set.
INTERNAL = {"PROMETHEUS_MULTIPROC_DIR"}


def documented() -> dict[str, str]:
    """The default that docs/configuration.md tells of each variable, by its name.

    A name may be a pattern: "…" stands for any letters.
    """
    found: dict[str, str] = {}
    for line in (DOCS / "configuration.md").read_text().splitlines():
        if not line.startswith("| `"):
            continue
        cell, _, default = (part.strip() for part in line.strip("|").split(" | "))
        names = re.findall(r"`([A-Z_…]+)`", cell)
        given = re.split(r", (?=\d|none)", default)
        given = given if len(given) == len(names) else [default] * len(names)
        found |= dict(zip(names, given, strict=True))
    return found


def is_named(name: str, names: set[str]) -> bool:
    """Returns whether one of the names, some of which are patterns, equals or matches this one."""
    name, *patterns = (each.replace("…", "*") for each in (name, *names))
    return any(fnmatchcase(name, each) or fnmatchcase(each, name) for each in patterns)


def numbers(settings: list[Setting]) -> dict[str, float]:
    """The defaults that are numbers, or products of some."""
    return {
        each.name: prod(float(part) for part in each.default.strip("'").split("*"))
        for each in settings
        if re.fullmatch(r"'?[\d_.]+( \* [\d_.]+)*'?", each.default)
    }


def test_every_setting_is_documented_and_no_other() -> None:
    read = {each.name for each in settings_read(PROJECT_ROOT)}
    told = set(documented())

    assert len(read) > 100
    assert {name for name in read - INTERNAL if not is_named(name, told)} == set()
    assert {name for name in told - ELSEWHERE if not is_named(name, read)} == set()


def test_defaults_that_are_numbers_are_told_as_they_are() -> None:
    told = {
        name: float(text.replace(",", ""))
        for name, text in documented().items()
        if re.fullmatch(r"[\d,.]+", text)
    }
    read = numbers(settings_read(PROJECT_ROOT))

    compared = told.keys() & read.keys()
    assert len(compared) > 50
    assert {name: told[name] for name in compared} == {name: read[name] for name in compared}


def test_a_reader_of_another_kind_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "config" / "settings"
    folder.mkdir(parents=True)
    (folder / "new.py").write_text(
        'A = read_int("NEW_LIMIT", 3, minimum=1)\nB = read_str(f"NEW_{A}", "")\n'
    )

    assert settings_read(tmp_path) == [
        Setting("NEW_LIMIT", "whole number", "3", "minimum 1", "config/settings/new.py"),
        Setting("NEW_*", "text", "''", "", "config/settings/new.py"),
    ]
    assert "| `NEW_LIMIT` | whole number | `3` |" in settings_page(tmp_path)


def test_the_fields_of_documents_are_told_with_types_ranges_and_defaults() -> None:
    page = documents_page()

    budget = "| `memory_config.token_budget` | whole number 100 to 1,000,000 | `2000` |"
    assert budget in page
    assert "| `model_config.max_tier` | `fast`, `balanced`, `powerful` |  |" in page
    assert "| `lifecycle_settings.expire_below` | whole number 1 to 8 | `3` |" in page


def test_the_page_of_the_api_has_every_operation_and_object() -> None:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    page = api_page(json.loads(OpenApiJsonRenderer().render(schema, renderer_context={})))

    operations = [
        f"### {method.upper()} {path}".replace("{", "\\{")
        for path, methods in schema["paths"].items()
        for method in methods
    ]
    lines = page.splitlines()
    assert [each for each in operations if each not in lines] == []
    targets = set(re.findall(r"^\((object-\w+)\)=$", page, re.M))
    assert len(targets) == len(schema["components"]["schemas"])
    assert set(re.findall(r"\(#(object-\w+)\)", page)) <= targets


_METRIC = re.compile(r"\bpalimpsest_\w+")


@pytest.mark.django_db
def test_dashboard_and_alerts_name_the_metrics_that_there_are() -> None:
    dashboard = json.loads((DOCS / "grafana" / "palimpsest.json").read_text())
    alerts = yaml.safe_load((DOCS / "grafana" / "alerts.yml").read_text())["groups"][0]["rules"]
    note_verified_backup(made_at=timezone.now())
    REQUESTS.labels("/", "GET", 200).inc()
    LATENCY.labels("/", "GET").observe(0.1)
    READS.labels("read").inc()
    scraped = Client().get("/metrics").content.decode()
    families = list(text_string_to_metric_families(scraped))
    samples = {each.name for family in families for each in family.samples}
    samples |= {family.name for family in families}
    # Histograms of extraction have samples once something was extracted.
    samples |= {f"{name}{end}" for name in samples for end in ("_bucket", "_sum", "_count")}

    asked = [each["expr"] for panel in dashboard["panels"] for each in panel["targets"]]
    asked += [
        each["query"]["query"]
        for each in dashboard["templating"]["list"]
        if each["type"] == "query"
    ]
    named = {name for each in asked for name in _METRIC.findall(each)}
    told = {name for rule in alerts for name in _METRIC.findall(rule["expr"])}
    assert (named | told) - samples == set()
    # The dashboard shows every metric, and the page explains each.
    page = (DOCS / "operations.md").read_text()
    explained = set(re.findall(r"^\| `(palimpsest_\w+)` \|", page, re.M))
    ours = {
        family.name
        for family in families
        if family.name.startswith("palimpsest_") and not family.name.endswith("_created")
    }
    shown = {re.sub("_(bucket|sum|count|total)$", "", name) for name in named}
    assert ours - shown - {"palimpsest_log_intact", "palimpsest_database_wait_seconds"} == set()
    assert {name.removesuffix("_total") for name in explained} == ours
    headings = {
        re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-")
        for line in re.findall(r"^#+ (.+)$", page, re.M)
    }
    for rule in alerts:
        told_of = rule["annotations"]
        assert [told_of[name][-1] for name in ("summary", "action")] == [".", "."], rule["alert"]
        assert told_of["runbook"].removeprefix("#") in headings, rule["alert"]
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(ids) == len(set(ids)) > 8
