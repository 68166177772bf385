"""Hostile requests for `benchmarks.attack`: each is what one careless or malicious client sends."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

LONG: Final = 32_000
JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it goes on the line; without a `raw` one it is made of the other parts."""

    method: str = "GET"
    path: str = "/healthz"
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes = b""
    reads: bool = True

    def line(self, key: str) -> bytes:
        """The bytes of the request, with the attacker's key."""
        if self.raw:
            return self.raw.replace(b"{key}", key.encode())
        head = {
            "Host": "127.0.0.1",
            "Authorization": f"Bearer {key}",
            "Content-Type": JSON,
            "Content-Length": str(len(self.body)),
            "Connection": "close",
        } | dict(self.headers)
        lines = [f"{self.method} {self.path} HTTP/1.1", *(f"{k}: {v}" for k, v in head.items())]
        return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + self.body


@dataclass(frozen=True, slots=True)
class Attack:
    """Requests by so many connections at a time; `slow` keeps sockets open instead."""

    name: str
    requests: Callable[[str], Iterator[Request]]
    at_once: int = 1
    slow: str = ""


def _post(path: str, body: object, **headers: str) -> Request:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request("POST", f"/v1/{path}", sent, named)


def _once(name: str, *requests: Request, at_once: int = 1) -> Attack:
    return Attack(name, lambda _: iter(requests), at_once)


def _memory(text: str) -> dict[str, object]:
    return {"content": text, "user": "mallory", "agent": "mallory"}


def repeated(pattern: str, length: int) -> str:
    """Repeats the pattern up to so many characters."""
    return (pattern * (length // len(pattern) + 1))[:length]


# Repeated until a text is as long as one may be.
_PATTERNS: Final = (
    "May 5, ", "No, Tuesday. ", "I run Monday. ", "word ", "[(", '{"a": [', "a", ". ", "- x\n",
    "2026-02-03 ", "from May 5 to ", "half an hour ago ", "(a+)+$ ", "((((.*)*)*)*)* ", "a@b.",
    "https://a.b/", "password: ", "sk-abc123 ", "QUJD", "1 ", "4111 ", "a\u0301\u0302\u0303",
    "\u202eabc", "\U0001f469\u200d", "我", "she said ", "<system>",
    "On Monday 3 March 2025 I moved to Berlin with Ann. I like tea, not coffee. Mail a@b.co. ",
)  # fmt: skip


def _texts() -> Iterator[Attack]:
    for pattern in _PATTERNS:
        text = repeated(pattern, LONG - 2) + " x"
        yield _once(f"memory of {pattern[:14]!r} x n", _post("memories", _memory(text)))
    for pattern in ("May 5, ", "No, Tuesday. ", "word ", "(a+)+$ ", "Ann and Bob and "):
        asked = {"agent": "mallory", "query": repeated(pattern, 8_000)}
        yield _once(f"question of {pattern!r} x n", _post("retrieve", asked))
    for pattern in ("Tuesday, no, Monday. ", "May 5, ", "I moved to Berlin with Ann; "):
        yield Attack(f"window of {pattern!r} x n", lambda given, p=pattern: _window(given, p))  # type: ignore[misc]


def _window(conversation: str, pattern: str) -> Iterator[Request]:
    said = [{"role": "user", "content": repeated(pattern, LONG)} for _ in range(50)]
    for at in range(0, 50, 25):
        yield _post(f"conversations/{conversation}/messages", {"messages": said[at : at + 25]})
    yield _post(f"conversations/{conversation}/extract", {"wait": False})


def _bodies() -> Iterator[Attack]:
    memory = _memory("A fact.")
    small = b'{"content": "%s"}'
    named = {
        "40,000 equal keys": b"{" + b'"a": 1, ' * 40_000 + b'"a": 1}',
        "40,000 keys": json.dumps({f"k{n}": n for n in range(40_000)}).encode(),
        "100,000 opening brackets": b"[" * 100_000,
        "100,000 levels of objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        "99 levels": b'{"content":' + b"[" * 98 + b"]" * 98 + b"}",
        "a million numbers": b"[" + b"1," * 999_999 + b"1]",
        "a number of 100,000 figures": b'{"content": "a", "importance": ' + b"9" * 100_000 + b"}",
        "a number of 1e999999": b'{"content": "a", "confidence": 1e999999}',
        "NaN and Infinity": b'{"content": "a", "confidence": NaN, "importance": Infinity}',
        "bytes that are no UTF-8": small % (b"\xff\xfe" * 5_000),
        "half surrogates": small % (b"\\ud800" * 5_000),
        "NULs": small % (b"\\u0000" * 5_000),
        "a string that never ends": b'{"content": "' + b"\\\\" * 400_000,
        "a text of 900,000 characters": small % (b"x" * 900_000),
        "31 MB of blanks": b" " * (31 << 20),
        "40 MB": b"x" * (40 << 20),
        "wrong types": json.dumps({name: [{}] for name in memory}).encode(),
        "10,000 tags": json.dumps({**memory, "tags": [f"t{n}" for n in range(10_000)]}).encode(),
        "an id of 500,000 signs": json.dumps({**memory, "external_id": "i" * 500_000}).encode(),
        "500 fields nobody knows": json.dumps({f"x{n}": n for n in range(500)}).encode(),
        "501 memories": json.dumps([memory] * 501).encode(),
        "500 equal memories": json.dumps([memory] * 500).encode(),
        "500 memories of 30,000 characters": json.dumps(
            [{**_memory(repeated(f"word{n} ", 30_000)), "check": False} for n in range(500)]
        ).encode(),
    }
    for name, body in named.items():
        yield _once(f"body: {name}", _post("memories", body))
    many = b'{"messages": [' + b"{}," * 999_999 + b"{}]}"
    yield Attack(
        "a million messages", lambda given: iter([_post(f"conversations/{given}/messages", many)])
    )
    yield _once("2 MB where 1 may be", _post("conversations", b" " * (2 << 20)))
    bomb = gzip.compress(b" " * (200 << 20), 9)
    yield _once("gzip bomb", _post("memories", bomb, Content_Encoding="gzip"))
    yield _once(
        "deflate bomb",
        _post("memories", zlib.compress(b"0" * (100 << 20)), Content_Encoding="deflate"),
    )
    slow_codec = _post(
        "memories", b"a-" * 200_000, Content_Type="application/json; charset=punycode"
    )
    yield _once("a codec of quadratic time", slow_codec)
    nested: dict[str, object] = {"user": "mallory"}
    for _ in range(90):
        nested = {"or": [nested, {"not": nested}]} if len(str(nested)) < 50_000 else {"not": nested}
    yield _once(
        "filters in filters",
        _post("memory/query", {"agent": "mallory", "query": "a", "filters": nested}),
    )
    huge = {"agent": "mallory", "query": "a", "token_budget": 10**18, "limit": 10**9}
    yield _once("budgets of 10^18", _post("retrieve", huge))
    weights = {"agent": "mallory", "query": "a", "weights": {"semantic": 1e308, "recency": -1}}
    yield _once("weights of 1e308", _post("retrieve", weights))
    files = [{"path": f"a{n}.py", "text": "def f(x):\n    return x\n" * 400} for n in range(90)]
    yield _once(
        "much code to learn from", _post("patterns/learn", {"files": files, "project": "p"})
    )


def _addresses() -> Iterator[Attack]:
    queries = {
        "900 tags": "tag=" + "&tag=".join(f"t{n}" for n in range(900)),
        "10,000 parameters": "&".join("a=1" for _ in range(2_000)),
        "a limit of 10^9": "limit=1000000000",
        "a rotten cursor": "cursor=" + "A" * 7_000,
        "8,000 percent signs": "user=" + "%" * 8_000,
        "bytes that are no UTF-8": "user=" + "%ff" * 2_000,
        "a search for wildcards": "subject=" + "%25_" * 1_000,
    }
    for name, query in queries.items():
        yield _once(f"address: {name}", Request("GET", f"/v1/memories?{query}"))
    yield _once("address of 60,000 bytes", Request("GET", "/v1/" + "a" * 60_000))
    yield _once("address that climbs", Request("GET", "/v1/../../../../etc/passwd"), at_once=1)
    yield _once("90 headers", Request(headers={f"X-{n}": "1" * 1_000 for n in range(90)}))
    yield _once("5,000 headers", Request(headers={f"X-{n}": "1" for n in range(5_000)}))
    yield _once("a header of 200 KB", Request(headers={"X-Long": "1" * 200_000}))
    yield _once(
        "a key of 8,000 bytes",
        Request("GET", "/v1/memories", headers={"Authorization": "Bearer " + "k" * 8_000}),
    )
    yield _once("a method nobody knows", Request("BREW", "/v1/memories"), Request("TRACE", "/"))
    reused = [
        _post("memories", _memory(f"Fact {n}."), Idempotency_Key="k" * 100) for n in range(40)
    ]
    yield _once("one Idempotency-Key at once", *reused, at_once=20)
    yield _once(
        "an Idempotency-Key of 7 KB", _post("memories", _memory("a"), Idempotency_Key="k" * 7_000)
    )


def _lines() -> Iterator[Attack]:
    head = b"POST /v1/memories HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n"
    head += b"Content-Type: application/json\r\n"
    chunked = head + b"Transfer-Encoding: chunked\r\n\r\n"
    raws = {
        "100,000 chunks of a byte": chunked + b"1\r\n \r\n" * 100_000 + b"0\r\n\r\n",
        "a chunk of 2^63 bytes": chunked + b"7FFFFFFFFFFFFFFF\r\nx",
        "a chunk of -1 bytes": chunked + b"-1\r\nx\r\n0\r\n\r\n",
        "chunk extensions of 300 KB": chunked + b"1;" + b"a" * 300_000 + b"\r\n{\r\n0\r\n\r\n",
        "trailers of 300 KB": chunked + b"2\r\n{}\r\n0\r\n" + b"X-A: 1\r\n" * 37_500 + b"\r\n",
        "chunked 60 MB": chunked + (b"100000\r\n" + b" " * (1 << 20) + b"\r\n") * 60 + b"0\r\n\r\n",
        "a length and chunks": head
        + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "two lengths": head + b"Content-Length: 2\r\nContent-Length: 20\r\n\r\n{}",
        "a negative length": head + b"Content-Length: -5\r\n\r\n{}",
        "a length of 10^30": head + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n{}",
        "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 500,
        "HTTP/0.9": b"GET /v1/schema\r\n\r\n",
        "1,000 requests at a time": b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" * 1_000,
    }
    for name, raw in raws.items():
        yield _once(f"line: {name}", Request(raw=raw))


def _floods() -> Iterator[Attack]:
    asked = _post("retrieve", {"agent": "mallory", "query": "What does Mallory like best?"})
    stated = [_post("memories", _memory(f"Mallory likes number {n}.")) for n in range(400)]
    yield _once("flood: questions of one key", *[asked] * 600, at_once=32)
    yield _once("flood: checked memories", *stated, at_once=32)
    yield _once(
        "flood: lists of 500", *[Request("GET", "/v1/memories?limit=500")] * 300, at_once=32
    )
    yield _once("flood: the schema", *[Request("GET", "/v1/schema")] * 300, at_once=32)
    wrong = Request("GET", "/v1/memories", headers={"Authorization": "Bearer pal_00000000_wrong"})
    yield _once("flood: wrong keys", *[wrong] * 600, at_once=32)
    yield _once("flood: metrics", *[Request("GET", "/metrics")] * 200, at_once=16)
    yield _once("flood: the login page", *[Request("GET", "/admin/login/")] * 200, at_once=16)
    opened = [_post("conversations", {"agent": f"a{n}", "user": f"u{n}"}) for n in range(400)]
    yield _once("flood: new agents and people", *opened, at_once=16)
    given_up = Request("POST", asked.path, asked.body, reads=False)
    yield _once("flood: answers nobody waits for", *[given_up] * 400, at_once=32)
    yield _once("flood: connections", *[Request(raw=b"\r\n", reads=False)] * 1_500, at_once=32)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of slow client: the bytes it sends first, and those it adds each second."""

    first: bytes
    then: Callable[[int], bytes] = field(default=lambda _: b"")


def kinds(key: str) -> dict[str, Kind]:
    """The kinds of slow clients by their names."""
    head = b"POST /v1/memories HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer {key}\r\n".encode() if key else b""
    half = head + b'Content-Length: 900\r\n\r\n{"content": "'
    return {
        "nothing": Kind(b""),
        "half a header": Kind(head),
        "a header a second": Kind(head, lambda n: b"X-%d: 1\r\n" % n),
        "half a body": Kind(half),
        "a byte of the body a second": Kind(half, lambda _: b"x"),
        "half a chunked body": Kind(
            head + b'Transfer-Encoding: chunked\r\n\r\n400\r\n{"content": "'
        ),
        "a chunk's length without an end": Kind(
            head + b"Transfer-Encoding: chunked\r\n\r\n400;a=" + b"x" * 1_000_000
        ),
        "half a large body": Kind(head + b"Content-Length: 30000000\r\n\r\n" + b" " * 15_000_000),
        "requests whose answers nobody reads": Kind(
            b"GET /v1/schema HTTP/1.1\r\nHost: test\r\n\r\n" * 20
        ),
    }


def _slow() -> Iterator[Attack]:
    for name in kinds(key=""):
        yield Attack(f"200 sockets: {name}", lambda _: iter(()), slow=name)


def attacks() -> Sequence[Attack]:
    """All of them, the cheap ones first."""
    groups = (_addresses, _lines, _bodies, _texts, _floods, _slow)
    return [attack for group in groups for attack in group()]
