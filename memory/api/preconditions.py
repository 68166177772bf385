"""`If-Match` and `If-None-Match` of a request (RFC 9110, 13.1), for what has numbered versions."""

from __future__ import annotations

from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.request import Request

from teams.errors import Condition, InvalidError

_TAG = '(W/)?"[!#-+./0-~-]*"'
# Empty is as if it were not sent.
_TAGS = {"type": "string", "pattern": rf"^\s*(\*|{_TAG}(\s*,\s*{_TAG})*)?\s*$"}
ETAG = OpenApiParameter(
    "ETag", str, OpenApiParameter.HEADER, response=True, description="The version, in quotes."
)
UNCHANGED = OpenApiParameter(
    "If-None-Match",
    _TAGS,
    OpenApiParameter.HEADER,
    description="The ETag that you have: answered with 304 while it stands.",
)
IF_MATCH = OpenApiParameter(
    "If-Match",
    _TAGS,
    OpenApiParameter.HEADER,
    description="The ETag that you loaded: another version that stands by now is not overwritten"
    " (412). `*` asks that there is one.",
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    _TAGS,
    OpenApiParameter.HEADER,
    description="`*` saves only where there is none yet (412).",
)
NOT_MODIFIED = OpenApiResponse(description="The version you have still stands.")
ANY = "*"


def entity_tag(version: int) -> str:
    """The version as an entity tag."""
    return f'"{version}"'


def condition_of(request: Request) -> Condition:
    """What must hold of the stored version; InvalidError for a header that is none."""
    match = request.headers.get("If-Match", "").strip()
    none_match = request.headers.get("If-None-Match", "").strip()
    return Condition(
        # A weak tag says only that something like it was seen, and matches none here.
        versions=None if match in ("", ANY) else _versions(match, "If-Match", with_weak=False),
        must_exist=match == ANY,
        must_be_new=none_match == ANY,
        other_than=frozenset()
        if none_match in ("", ANY)
        else _versions(none_match, "If-None-Match", with_weak=True),
    )


def is_known(request: Request, version: int) -> bool:
    """Whether the caller of a GET has this version already."""
    none_match = request.headers.get("If-None-Match", "").strip()
    if not none_match:
        return False
    return none_match == ANY or version in _versions(none_match, "If-None-Match", with_weak=True)


def _versions(header: str, name: str, *, with_weak: bool) -> frozenset[int]:
    """The versions among the tags; a tag of another making matches none."""
    tags = parse_etags(header)
    if len(tags) != sum(bool(part.strip()) for part in header.split(",")):
        raise InvalidError(
            'Send the ETag of a version as it came, in quotation marks, as in "3".', field=name
        )
    if with_weak:
        tags = [tag.removeprefix("W/") for tag in tags]
    values = [tag.strip('"') for tag in tags if not tag.startswith("W/")]
    return frozenset(int(value) for value in values if value.isdecimal() and len(value) <= 10)
