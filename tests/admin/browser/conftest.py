"""The admin in a real browser, over committed rows."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from django.db import connections
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

from tests.support.browser import HEIGHT, PATIENCE_MS, WIDTH

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a browser on a machine without one; CI installs it, so it never skips."""
    if CHROMIUM is None and not os.environ.get("CI"):
        here = os.path.dirname(__file__)
        for item in items:
            if str(item.path).startswith(here):
                item.add_marker(pytest.mark.skip(reason="there is no Chromium on this machine"))


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[LiveServer]:
    """The site on a port of its own, over committed rows."""
    live = LiveServer("localhost")
    yield live
    live.stop()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for all tests of the folder; no longer, as its loop would be in others' way."""
    # The loop has connections of its own: those from outside would be dead behind it, as a database
    # restored meanwhile takes all of them down.
    for connection in connections.all():
        connection.close()
    # Playwright's loop makes Django believe that its own calls come from a coroutine.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as driver:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page without cookies; a script that throws, a dialog that opens or anything that the
    policy for content refuses fails the test."""
    surprises: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        # A form with unsaved changes that asks keeps its page, so whoever goes on there fails.
        if dialog.type != "beforeunload":
            surprises.append(dialog.message)
        dialog.dismiss()

    def note_refused(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            surprises.append(message.text)

    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT})
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.on("pageerror", lambda error: surprises.append(str(error)))
    page.on("console", note_refused)
    page.on("dialog", dismiss)
    yield page
    context.close()
    # Those opened beside Playwright's loop are its own: after the next file's database was
    # restored they would be dead, and no one outside the loop could close them.
    for connection in connections.all():
        connection.close()
    assert surprises == []
