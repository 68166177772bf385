"""A circuit breaker as a value: closed, open after failures in a row, half-open for one probe."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class Verdict(StrEnum):
    """Whether a call may be made: yes, yes as the one probe, or no."""

    CLOSED = "closed"
    HALF_OPEN = "half_open"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Policy:
    """So many failures in a row open the circuit for so many seconds.

    A probe that has not come back after `probe_seconds` is given up; failures further apart than
    `memory_seconds` are not in a row.
    """

    failures: int = 3
    open_seconds: float = 30.0
    probe_seconds: float = 120.0
    memory_seconds: float = 300.0


@dataclass(frozen=True, slots=True)
class Circuit:
    """What is known of one endpoint and model; times are seconds since the epoch, 0 for never."""

    failures: int = 0
    failed_at: float = 0.0
    open_until: float = 0.0
    probe_until: float = 0.0


NEW = Circuit()


def asked(circuit: Circuit, *, now: float, policy: Policy) -> tuple[Circuit, Verdict]:
    """Whether a call may be made now; the circuit afterwards knows of the probe."""
    if not circuit.open_until:
        return circuit, Verdict.CLOSED
    if now < circuit.open_until or now < circuit.probe_until:
        return circuit, Verdict.OPEN
    return replace(circuit, probe_until=now + policy.probe_seconds), Verdict.HALF_OPEN


def succeeded(circuit: Circuit, *, is_probe: bool) -> Circuit:
    """After an answer: a probe closes, a call from before the circuit opened does not."""
    return circuit if circuit.open_until and not is_probe else NEW


def failed(circuit: Circuit, *, now: float, is_probe: bool, policy: Policy) -> Circuit:
    """After a failure: a probe opens again, the last of a row opens."""
    if circuit.open_until and not is_probe:
        return circuit
    in_a_row = now - circuit.failed_at <= policy.memory_seconds
    failures = circuit.failures + 1 if in_a_row else 1
    opens = is_probe or failures >= policy.failures
    return Circuit(failures, now, open_until=now + policy.open_seconds if opens else 0.0)


def given_up(circuit: Circuit, *, is_probe: bool) -> Circuit:
    """After a call that says nothing about the endpoint: another probe may come at once."""
    return replace(circuit, probe_until=0.0) if is_probe else circuit
