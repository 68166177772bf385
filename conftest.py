"""Settings of a test run, chosen before Django reads them.

Each process that runs tests has a home of its own, in which the first test that needs a server
starts it.
"""

from __future__ import annotations

import gc
import os
import tempfile

import django
import hypothesis
import pytest

pytest_plugins = ["tests.support.fixtures"]

_MODELS = (
    "OPENAI_",
    "EMBEDDING_",
    "EXTRACTION_MODEL",
    "REVIEW_MODEL",
    "JUDGE_MODEL",
    "EPISODE_MODEL",
    "INSIGHT_MODEL",
    "CLASSIFIER_",
    "CHAT_",
    "PROVIDER_KEY",
)


def _choose_settings() -> None:
    """Point the settings at the servers of DATABASE_URL and REDIS_URL, or embedded ones."""
    from django.conf import settings as read

    if read.configured:
        raise SystemExit(
            "The settings were read before the tests chose a database of their own, so they would"
            " write into yours: unset DJANGO_SETTINGS_MODULE and try again."
        )
    # Set here and not in pyproject.toml: pytest-django would read the settings before this file.
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ["PALIMPSEST_ENV"] = "test"
    os.environ["PALIMPSEST_HOME"] = tempfile.mkdtemp(prefix="palimpsest-test-")
    os.environ["DATABASE_POOL_SIZE"] = "0"
    os.environ.pop("DATABASE_REPLICA_URL", None)
    os.environ["PALIMPSEST_DATABASE"] = f"palimpsest_test_{os.getpid()}"
    os.environ["REDIS_PREFIX"] = f"palimpsest-test-{os.getpid()}"
    for name in [each for each in os.environ if each.startswith(_MODELS)]:
        del os.environ[name]


_choose_settings()
django.setup()

# A slow machine is no counterexample. `make nightly` asks for the second profile, whose number
# `tests.support.examples` applies to tests with a number of their own, too.
for _name, _examples in (("few", 20), ("nightly", 200)):
    hypothesis.settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
hypothesis.settings.load_profile("few")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Let the processes of the run choose services of their own before they read the settings."""
    del os.environ["DJANGO_SETTINGS_MODULE"]


# Tests that start whole servers or programs end a run; the longest come first, so that no process
# is left alone with one.
_LAST = (
    "tests/test_satellites.py",
    "tests/config/test_launcher.py",
    "tests/config/test_cells.py",
    "tests/config/test_rabbitmq.py",
    "tests/config/test_outage.py",
    "tests/docs/",
    "tests/examples/",
    "tests/memory/read/test_replica_reads.py",
    "tests/config/test_backup.py",
    "tests/config/test_upgrade_while_serving.py",
)


# Of `make nightly`, or of a run that names them: they take minutes, and what they show of a whole
# installation other tests show of its parts.
_NIGHTLY = (
    "tests/config/test_cells.py",
    "tests/config/test_rabbitmq.py::test_a_broker_that_hangs_holds_nobody_up_who_sends",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put what starts whole servers at the end, and leave out what only the night has time for."""
    is_night = (
        hypothesis.settings().max_examples > hypothesis.settings.get_profile("few").max_examples
    )
    files = {each.partition("::")[0] for each in _NIGHTLY}
    if not is_night and not any(file in each for each in config.args for file in files):
        left_out = [item for item in items if item.nodeid.startswith(_NIGHTLY)]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)

    def place(item: pytest.Item) -> int:
        found = [at for at, start in enumerate(_LAST) if item.nodeid.startswith(start)]
        return found[0] + 1 if found else 0

    items.sort(key=place)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exclude from garbage collections what stays loaded for the whole run; each takes seconds."""
    gc.collect()
    gc.freeze()
