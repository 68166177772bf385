"""Both wheels, built from the checkout and installed beside the packages of this environment."""

import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

from config.embedded import PROJECT_ROOT


def build_wheels(folder: Path) -> list[Path]:
    """Returns the wheels of the server and of the client, built without a network.

    That of the server is made of what the build of the image sees.
    """
    client, server = folder / "client", folder / "server"
    # Setuptools builds in the folder of the sources.
    shutil.copytree(PROJECT_ROOT / "clients" / "python", client)
    for line in (PROJECT_ROOT / ".dockerignore").read_text().splitlines():
        if line.startswith("!"):
            _copy(PROJECT_ROOT / line[1:], server / line[1:])
    for sources in (server, client):
        _pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, sources)
    return sorted(folder.glob("*.whl"))


def _copy(path: Path, target: Path) -> None:
    if path.is_dir():
        shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def install(wheels: Sequence[Path], *, into: Path) -> Path:
    """Installs wheels into a new environment; returns the program `palimpsest`.

    Their requirements are this environment's packages.
    """
    venv.create(into)
    python = into / "bin" / "python"
    paths = {"base": str(into), "platbase": str(into)}
    own = Path(sysconfig.get_path("purelib", "venv", paths))
    (own / "shared.pth").write_text(sysconfig.get_path("purelib"))
    _pip("--python", python, "install", "--no-deps", "--no-index", "--no-compile", *wheels)
    return into / "bin" / "palimpsest"


def _pip(*arguments: object) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
