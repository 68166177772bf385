"""What tests in a real browser share: sizes, patience, and signing in."""

from __future__ import annotations

from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

WIDTH, HEIGHT = 1600, 1000
PATIENCE_MS = 10_000


def log_in(page: Page, server: LiveServer, username: str) -> None:
    """Sign in; the password of every login of the factories is "secret"."""
    page.goto(f"{server.url}/admin/")
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill("secret")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#nav-sidebar-apps")).to_be_attached()
