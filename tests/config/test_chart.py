"""The Helm chart: linted and rendered by helm, and checked against Kubernetes' schemas."""

import json
import subprocess
import tomllib
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
import yaml

from config import __version__
from config.embedded import PROJECT_ROOT

HELM = PROJECT_ROOT / "build" / "helm"
CHART = PROJECT_ROOT / "docker" / "helm" / "palimpsest"
NEEDED = (
    "secrets.application=palimpsest",
    "secrets.owner=palimpsest-owner",
    "settings.ALLOWED_HOSTS=.example.com\\,localhost",
)
EVERYTHING = (
    *NEEDED,
    "ingress.enabled=true",
    "ingress.className=nginx",
    "ingress.hosts[0]=memory.example.com",
    "ingress.tls[0].secretName=certificate",
    "imagePullSecrets[0].name=registry",
    "web.autoscaling.enabled=false",
    "worker.autoscaling.enabled=false",
    "serviceAccount.create=false",
    "pod.annotations.owner=us",
    "pod.labels.tier=memory",
    "pod.nodeSelector.disk=fast",
    "pod.tolerations[0].key=memory",
    "service.annotations.owner=us",
    "backup.enabled=true",
    "backup.claim=backups",
)
Manifest = dict[str, Any]  # as loose as YAML is


def helm(*words: object, values: tuple[str, ...] = NEEDED) -> subprocess.CompletedProcess[str]:
    """Run helm on the chart with these values."""
    assert HELM.exists(), "run `make build/helm` first"
    given = [word for value in values for word in ("--set", value)]
    command = [str(each) for each in (HELM, *words, CHART, *given)]
    return subprocess.run(command, capture_output=True, text=True)


def rendered(values: tuple[str, ...]) -> list[Manifest]:
    """The manifests of the chart with these values."""
    done = helm("template", "memory", values=values)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


@pytest.fixture(scope="module")
def manifests() -> list[Manifest]:
    return rendered(NEEDED)


def containers(manifests: list[Manifest]) -> Iterator[tuple[str, Manifest, Manifest]]:
    """The containers with their names and pods."""
    for each in manifests:
        if each["kind"] in {"Deployment", "Job"}:
            pod = each["spec"]["template"]["spec"]
            for container in pod["containers"]:
                yield container["name"], container, pod


def test_helm_finds_nothing_wrong() -> None:
    done = helm("lint", "--strict")

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("values", [NEEDED, EVERYTHING], ids=["default", "everything"])
def test_kubernetes_knows_every_field(values: tuple[str, ...]) -> None:
    manifests = rendered(values)

    for each in manifests:
        kubernetes_validate.validate(each, "1.37", strict=True)
    kinds = [each["kind"] for each in manifests]
    assert kinds.count("Deployment") == 3
    assert ("Ingress" in kinds) is (values is EVERYTHING)
    assert kinds.count("HorizontalPodAutoscaler") == (0 if values is EVERYTHING else 2)
    assert kinds.count("PodDisruptionBudget") == 2
    if values is EVERYTHING:
        (backup,) = (each for each in manifests if each["kind"] == "CronJob")
        pod = backup["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert [each["secretRef"]["name"] for each in container["envFrom"]] == [
            "palimpsest",
            "palimpsest-owner",
        ]
        assert {each["name"] for each in container["volumeMounts"]} == {"home", "tmp", "backups"}
        assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_migrations_run_before_and_they_alone_know_the_owner(manifests: list[Manifest]) -> None:
    (job,) = (each for each in manifests if each["kind"] == "Job")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"

    secrets = {
        name: [each["secretRef"]["name"] for each in container["envFrom"]]
        for name, container, _ in containers(manifests)
    }
    assert secrets == {
        "web": ["palimpsest"],
        "worker": ["palimpsest"],
        "beat": ["palimpsest"],
        "migrate": ["palimpsest", "palimpsest-owner"],
    }


def test_containers_have_no_privileges_and_those_that_stay_have_probes(
    manifests: list[Manifest],
) -> None:
    for name, container, pod in containers(manifests):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["automountServiceAccountToken"] is False
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["command"][0] == "palimpsest"
        assert ("livenessProbe" in container) is (name != "migrate")
    web = next(container for name, container, _ in containers(manifests) if name == "web")
    for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        asked = web[probe]["httpGet"]
        assert asked["path"] == path
        assert asked["httpHeaders"] == [{"name": "Host", "value": "example.com"}]


@pytest.mark.parametrize(
    "value",
    [
        "secrets.application=",
        "settings.ALLOWED_HOSTS=",
        "settings.OPENAI_API_KEY=key",
        "settings.DATABASE_URL=postgresql://x",
        "web.replica=3",
        "backup.enabled=true",
    ],
)
def test_a_value_that_cannot_be_right_is_refused(value: str) -> None:
    done = helm("template", "memory", values=(*NEEDED, value))

    assert done.returncode == 1
    assert "values don't meet the specifications of the schema" in done.stderr


def test_all_packages_are_of_one_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    projects = [
        tomllib.loads((PROJECT_ROOT / each / "pyproject.toml").read_text())["project"]
        for each in (".", "clients/python")
    ]

    assert {each["name"] for each in projects} == {"palimpsest-server", "palimpsest-client"}
    assert {
        __version__,
        chart["version"],
        chart["appVersion"],
        *(each["version"] for each in projects),
        json.loads((PROJECT_ROOT / "clients/typescript/package.json").read_text())["version"],
    } == {projects[0]["version"]}
