"""Errors as application/problem+json (RFC 9457): the one place that maps domain errors to HTTP."""

from __future__ import annotations


def problem_for(error: Exception):
    return None
