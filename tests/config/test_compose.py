"""The shape of production: what docker-compose.yml and the image promise."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from config import embedded
from config.embedded.postgres import binaries_folder

ROOT = embedded.PROJECT_ROOT
COMPOSE = (ROOT / "docker-compose.yml").read_text()
# Any: the parsed file, as loose as YAML is.
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE)["services"]
OURS = ("migrate", "web", "worker", "beat")
SECRETS = {
    "DJANGO_SECRET_KEY",
    "POSTGRES_PASSWORD",
    "POSTGRES_OWNER_PASSWORD",
    "POSTGRES_APP_PASSWORD",
    "REDIS_PASSWORD",
}


def example() -> dict[str, str]:
    """Return the variables of .env.example."""
    lines = (ROOT / ".env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_every_part_is_there() -> None:
    assert set(SERVICES) == {*OURS, "postgres", "redis", "rabbitmq"}
    assert [name for name, service in SERVICES.items() if "profiles" in service] == ["rabbitmq"]


@pytest.mark.parametrize("name", sorted(set(SERVICES) - {"migrate"}))
def test_every_service_that_stays_has_a_health_check(name: str) -> None:
    check = SERVICES[name]["healthcheck"]

    assert check["test"]
    assert {"interval", "timeout", "retries"} <= set(check)


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_nothing_serves_before_the_migrations_are_through(name: str) -> None:
    wait = {key: value["condition"] for key, value in SERVICES[name]["depends_on"].items()}

    assert wait == {
        "migrate": "service_completed_successfully",
        "postgres": "service_healthy",
        "redis": "service_healthy",
    }


def test_no_secret_has_a_default() -> None:
    for name in SECRETS:
        uses = re.findall(rf"\$\{{{name}([^}}]*)\}}", COMPOSE)
        assert uses, name
        assert all(use.startswith(":?") for use in uses), name


def test_every_variable_of_the_file_is_explained_and_left_empty_in_the_example() -> None:
    wanted = set(re.findall(r"(?<!\$)\$\{([A-Z_]+)", COMPOSE))

    assert wanted == set(example())
    assert not any(example().values())


def test_only_migrate_knows_the_owner() -> None:
    with_owner = [name for name in OURS if "DATABASE_OWNER_URL" in SERVICES[name]["environment"]]

    assert with_owner == ["migrate"]
    for name in OURS:
        assert "//palimpsest_app:" in SERVICES[name]["environment"]["DATABASE_URL"]


@pytest.mark.parametrize("name", OURS)
def test_our_containers_have_no_privileges(name: str) -> None:
    service = SERVICES[name]

    assert service["user"].split(":")[0] not in {"0", "root"}
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]


def test_the_image_runs_as_an_ordinary_user() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    last_stage = max(index for index, line in enumerate(lines) if line.startswith("FROM "))

    assert users == ["palimpsest"]
    assert any(line == "USER palimpsest" for line in lines[last_stage:])


def test_data_lies_in_volumes_and_only_the_web_is_published() -> None:
    assert "postgres:/var/lib/postgresql" in SERVICES["postgres"]["volumes"]
    assert "redis:/data" in SERVICES["redis"]["volumes"]
    assert "rabbitmq:/var/lib/rabbitmq" in SERVICES["rabbitmq"]["volumes"]
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["web"]
    assert SERVICES["web"]["ports"][0].startswith("${PUBLISH_ADDRESS:-127.0.0.1}:")


def test_the_build_sees_an_allow_list() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = [line[1:] for line in lines if line.startswith("!")]

    assert next(line for line in lines if not line.startswith("#")) == "*"
    assert ".env" not in allowed
    assert all((ROOT / path).exists() for path in allowed)


@pytest.fixture
def empty_server() -> Iterator[Path]:
    """The socket folder of a server without our roles and database, as the image begins."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-test-") as folder:
        home = Path(folder) / "home"
        socket_dir = embedded.start_postgres(home)
        with psycopg.connect(host=str(socket_dir), user="postgres", autocommit=True) as connection:
            connection.execute("DROP DATABASE palimpsest")
            connection.execute("DROP OWNED BY palimpsest_owner")
            connection.execute("DROP ROLE palimpsest_owner, palimpsest_app")
        yield socket_dir
        embedded.stop_postgres(home)


def test_the_init_script_makes_both_logins(empty_server: Path) -> None:
    subprocess.run(
        [str(ROOT / "docker" / "postgres-init.sh")],
        check=True,
        env={
            "PATH": f"{binaries_folder()}:{os.environ['PATH']}",
            "PGHOST": str(empty_server),
            "POSTGRES_USER": "postgres",
            "POSTGRES_OWNER_PASSWORD": "it's the owner's",
            "POSTGRES_APP_PASSWORD": "app",
        },
    )

    with psycopg.connect(host=str(empty_server), user="postgres", dbname="palimpsest") as found:
        roles = found.execute(
            "SELECT rolname, rolsuper, rolbypassrls, rolcreaterole, rolpassword LIKE 'SCRAM%'"
            " FROM pg_authid WHERE rolname LIKE 'palimpsest%' ORDER BY 1"
        ).fetchall()
        vector = found.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone()
    assert roles == [
        ("palimpsest_app", False, False, False, True),
        ("palimpsest_owner", False, False, True, True),
    ]
    assert vector is not None
