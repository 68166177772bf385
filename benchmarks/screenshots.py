"""`make screenshots`: the pictures of the documents, from a server of its own with the demo."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from config.healthcheck import is_healthy

_ROOT = Path(__file__).resolve().parent.parent
_IMAGES = _ROOT / "docs" / "images"
_WIDTH, _HEIGHT = 1280, 860
_MOST_BYTES = 300_000
_START_SECONDS = 120.0
_LOGIN = "ann"
_QUESTION = "When does the beta start?"


def main() -> None:
    """Draw every picture; exit 1 where one is larger than a document should load."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        sys.exit("There is no Chromium on this machine: apt-get install chromium.")
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-pictures-") as home,
        _server(Path(home)) as url,
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = _signed_in(browser, url)
        too_large = [name for name, draw in _PICTURES.items() if not _draw(page, url, name, draw)]
        browser.close()
    if too_large:
        sys.exit(f"Larger than {_MOST_BYTES} bytes: {', '.join(too_large)}.")


@contextmanager
def _server(home: Path) -> Iterator[str]:
    """A server with the demo's story and a login, until the block ends; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        **os.environ,
        "PALIMPSEST_HOME": str(home),
        "PORT": str(port),
        "DJANGO_SUPERUSER_PASSWORD": "secret",
    }
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve"],
        cwd=_ROOT,
        env=settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        for command in (
            ["load_demo"],
            ["createsuperuser", "--no-input", "--username", _LOGIN, "--email", ""],
        ):
            subprocess.run(
                [sys.executable, "manage.py", *command],
                cwd=_ROOT,
                env=settings,
                check=True,
                stdout=subprocess.DEVNULL,
            )
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait_for(port: int) -> None:
    until = time.monotonic() + _START_SECONDS
    while not is_healthy(host="127.0.0.1", port=port):
        if time.monotonic() > until:
            sys.exit("The server did not start.")
        time.sleep(0.5)


def _signed_in(browser: Browser, url: str) -> Page:
    page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light")
    page.goto(f"{url}/admin/")
    page.get_by_label("Username").fill(_LOGIN)
    page.get_by_label("Password").fill("secret")
    page.get_by_role("button", name="Log in").click()
    page.locator("#nav-sidebar-apps").wait_for()
    return page


def _draw(page: Page, url: str, name: str, go: Callable[[Page, str], None]) -> bool:
    """Draw one picture; whether it is small enough."""
    go(page, url)
    page.wait_for_load_state("networkidle")
    path = _IMAGES / f"{name}.png"
    page.screenshot(path=path)
    size = path.stat().st_size
    print(f"{path.relative_to(_ROOT)}: {size // 1000} kB")
    return size <= _MOST_BYTES


def _list(page: Page, url: str) -> None:
    page.goto(f"{url}/admin/memory/memory/")


def _home(page: Page, url: str) -> None:
    page.goto(f"{url}/admin/")


def _review(page: Page, url: str) -> None:
    page.goto(f"{url}/admin/inbox/?kind=contradiction")
    page.locator(".inbox-list a").first.click()


def _memory(page: Page, url: str) -> None:
    page.goto(f"{url}/admin/memory/memory/?status__exact=disputed")
    page.locator("#result_list a[href*='/change/']").first.click()


def _playground(page: Page, url: str) -> None:
    page.goto(f"{url}/admin/memory/playground/")
    page.get_by_label("Agent", exact=True).select_option(label="kyra")
    page.get_by_label("Person", exact=True).fill("sarah")
    page.get_by_label("Question").fill(_QUESTION)
    page.get_by_role("button", name="Ask").click()
    page.locator(".playground-line").first.wait_for()
    page.locator("[data-weights]").scroll_into_view_if_needed()
    page.locator("[data-weights]").evaluate("element => element.scrollIntoView()")


def _time_travel(page: Page, url: str) -> None:
    page.goto(f"{url}/admin/time-travel/")


# By the name of the file.
_PICTURES: Mapping[str, Callable[[Page, str], None]] = {
    "admin": _list,
    "home": _home,
    "review": _review,
    "memory": _memory,
    "playground": _playground,
    "time-travel": _time_travel,
}

if __name__ == "__main__":
    main()
