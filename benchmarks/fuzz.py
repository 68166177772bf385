"""Does the API keep to its OpenAPI schema, whatever is sent? Run it as `make fuzz`.

Schemathesis asks every operation with all its checks: with what the schema allows, what it does
not, and requests that use what earlier ones made. It runs in an environment of its own
(requirements/fuzz.txt), against a server that is started for it in a throwaway home, with models
that are not real, or one that `--url` names, with a key of a team to be filled with rubbish in
FUZZ_KEY. What no schema can say stands in `fuzz_checks.py`. Ends with Schemathesis's status: not 0
for a server error, or for an answer or a refusal that the schema does not tell of.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.instance import everything, free_port, issue_keys
from tests.support.openai_server import FakeOpenAI

_HERE = Path(__file__).parent


def fuzz(*, program: str, url: str, key: str, examples: int, more: list[str]) -> int:
    """Ask every operation some hundred times, at least `examples` drawn at random; the status."""
    command = [program, "--config-file", str(_HERE / "fuzz.toml"), "run", f"{url}/v1/schema"]
    command += ["--header", f"Authorization: Bearer {key}", "--checks", "all"]
    command += ["--max-examples", str(examples), "--continue-on-failure", *more]
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        # The check is imported by its file's name, past what the benchmarks set up.
        environment = {**os.environ, "PYTHONPATH": str(_HERE), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def main() -> int:
    """Start a server unless one is named, and fuzz it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--program", required=True, help="where Schemathesis is")
    parser.add_argument("--url", default="", help="of a running server; needs FUZZ_KEY")
    parser.add_argument("--examples", type=int, default=12, help="at most, of each operation")
    given, more = parser.parse_known_args()
    program = str(Path(given.program).absolute())
    if given.url:
        key = os.environ["FUZZ_KEY"]
        return fuzz(program=program, url=given.url, key=key, examples=given.examples, more=more)
    with tempfile.TemporaryDirectory(prefix="fuzzed-") as home, FakeOpenAI() as models:
        environment = {
            **os.environ,
            **{f"CHAT_MODEL_{tier}": "fake" for tier in ("FAST", "BALANCED", "POWERFUL")},
            "OPENAI_BASE_URL": models.base_url,
            "PALIMPSEST_HOME": home,
            "PORT": str(free_port()),
        }
        with everything(environment):
            return fuzz(
                program=program,
                url=f"http://127.0.0.1:{environment['PORT']}",
                key=issue_keys(environment, "fuzz")[0],
                examples=given.examples,
                more=more,
            )


if __name__ == "__main__":
    sys.exit(main())
