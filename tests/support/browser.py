"""Shared parts of the browser tests: sizes, timeouts, and signing in."""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

WIDTH, HEIGHT = 1600, 1000
PATIENCE_MS = 10_000
# Of the places where a page breaks a rule, so many are named.
_NAMED = 5


def log_in(page: Page, server: LiveServer, username: str) -> None:
    """Sign in; the password of every login of the factories is "secret"."""
    page.goto(f"{server.url}/admin/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill("secret")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#nav-sidebar-apps")).to_be_attached()
    # Its scripts, which listen for keys, come last.
    page.wait_for_load_state()


def axe_findings(page: Page) -> list[str]:
    """Returns the rules that axe-core finds violated on the page as shown, and where."""
    # A click returns when its page has arrived, which may be before it has a body.
    page.wait_for_load_state()
    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {', '.join(str(node['target'][-1]) for node in rule['nodes'][:_NAMED])}"
        for rule in found["violations"]
    ]
