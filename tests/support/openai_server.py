"""A local server that speaks the OpenAI protocol, to be scripted by tests or used by hand.

By hand, from the project's folder: `python -m tests.support.openai_server --port 9999`, then start
Palimpsest with OPENAI_BASE_URL=http://127.0.0.1:9999/v1 and any EXTRACTION_MODEL. Without a
script it answers by itself, always the same: one memory for each user message that tells
something, word vectors for texts, a verdict for two statements, and an empty but valid answer for
any other schema.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import re
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from tests.support.openai_answers import MODEL, Json, embeddings, own_content, usage

logger = logging.getLogger("tests.support.openai_server")

_CREATED = 1_770_000_000


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The server's handling of one request; the fields that are set happen, in this order.

    `delay` seconds of silence, then a dropped connection, or `body` as it stands, or a chat
    completion of `content` and `tool_calls`, whole or as a stream, as the request asks. Status 200
    with nothing set is the server's own answer. `counts` is whether it says what was used; a
    stream rests `pause` seconds before each chunk and is dropped after `cut_after` of them. If
    `is_joined`, the last words come in its last chunk.
    """

    status: int = 200
    content: str | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    body: str | None = None
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    tool_calls: Sequence[Json] = ()
    counts: bool = True
    pause: float = 0.0
    cut_after: int | None = None
    is_joined: bool = False


def answer(value: object) -> Behaviour:
    """A completion whose content is `value` as JSON, or as it stands when it is a text."""
    return Behaviour(content=value if isinstance(value, str) else json.dumps(value))


def tool_call(name: str, arguments: object, *, call_id: str = "call_1") -> Json:
    """A call of a tool, for a behaviour's `tool_calls`."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": call_id, "type": "function", "function": function}


def truncated(content: str) -> Behaviour:
    """A completion that ran into its length limit."""
    return Behaviour(content=content, finish_reason="length")


def refusal(text: str = "I cannot help with that.") -> Behaviour:
    """A model that refuses, as structured outputs report it."""
    return Behaviour(refusal=text)


def filtered() -> Behaviour:
    """A completion that a content filter stopped."""
    return Behaviour(content="", finish_reason="content_filter")


def error(
    status: int,
    *,
    code: str | None = None,
    param: str | None = None,
    message: str = "scripted error",
    retry_after: float | None = None,
) -> Behaviour:
    """An error in the protocol's shape; `retry_after` is in seconds."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    detail = {"message": message, "type": kind, "param": param, "code": code}
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Behaviour(status=status, body=json.dumps({"error": detail}), headers=headers)


def slow(seconds: float) -> Behaviour:
    """The server's own answer, after `seconds`."""
    return Behaviour(delay=seconds)


def dropped() -> Behaviour:
    """The connection is closed without a word."""
    return Behaviour(drop=True)


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it came; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Json

    @property
    def text(self) -> str:
        """All messages of a chat request, joined."""
        return "\n".join(str(message.get("content")) for message in self.body["messages"])


class FakeOpenAI:
    """The server on a thread; a context manager. Port 0 takes a free one."""

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        json_schema: bool = True,
        stream_usage: bool = True,
    ) -> None:
        self.json_schema = json_schema
        self.stream_usage = stream_usage
        self.requests: list[RecordedRequest] = []
        self._script: deque[Behaviour] = deque()
        self._lock = threading.Lock()
        self.stopping = threading.Event()
        # Set once a client has gone away in the middle of a stream.
        self.abandoned = threading.Event()
        self._server = _Server((host, port), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def base_url(self) -> str:
        """The value of OPENAI_BASE_URL with which this server is reached."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}/v1"

    @property
    def chats(self) -> list[RecordedRequest]:
        """The chat requests in order of arrival."""
        return [request for request in self.requests if request.path == "/v1/chat/completions"]

    @property
    def embedded(self) -> list[list[str]]:
        """The texts of each embedding request in order of arrival."""
        return [
            request.body["input"] for request in self.requests if request.path == "/v1/embeddings"
        ]

    def will(self, *behaviours: Behaviour) -> None:
        """Script the next POST requests, one behaviour each."""
        with self._lock:
            self._script.extend(behaviours)

    def take(self, request: RecordedRequest) -> Behaviour:
        """Record a request and say what to do with it."""
        with self._lock:
            self.requests.append(request)
            scripted = request.method == "POST" and self._script
            return self._script.popleft() if scripted else Behaviour()

    def start(self) -> None:
        """Begin to serve on a thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the server and whatever it delays."""
        self.stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def wait(self) -> None:
        """Until the server ends."""
        self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    fake: FakeOpenAI


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Else head and body wait for each other's acknowledgement, 40 ms a request.
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self._send(error(400, message="The body must be a JSON object."))
            return
        self._serve(body)

    def _serve(self, body: Json) -> None:
        fake = self.server.fake
        headers = {name.lower(): value for name, value in self.headers.items()}
        path = self.path.partition("?")[0]
        behaviour = fake.take(RecordedRequest(self.command, path, headers, body))
        if behaviour.delay:
            fake.stopping.wait(behaviour.delay)
        if behaviour.drop:
            self.close_connection = True
            return
        if behaviour.body is None and behaviour.status == 200:
            if path == "/v1/chat/completions" and body.get("stream") is True:
                if not body.get("stream_options") or fake.stream_usage:
                    self._stream(body, behaviour)
                    return
                behaviour = error(400, message="Unrecognized request argument: stream_options")
            else:
                behaviour = self._own_answer(path, body, behaviour)
        self._send(behaviour)

    def _own_answer(self, path: str, body: Json, behaviour: Behaviour) -> Behaviour:
        route = (self.command, path)
        if route == ("GET", "/v1/models"):
            model = {"id": MODEL, "object": "model", "created": _CREATED, "owned_by": "tests"}
            return _json({"object": "list", "data": [model]})
        if route == ("POST", "/v1/embeddings"):
            return _json(embeddings(body))
        if route != ("POST", "/v1/chat/completions"):
            return error(404, code="unknown_url", message="Unknown path.")
        form = body.get("response_format", {}).get("type", "text")
        if form == "json_schema" and not self.server.fake.json_schema:
            return error(400, message="response_format json_schema is not supported")
        return _json(completion(body, said(body, behaviour), behaviour))

    def _stream(self, body: Json, behaviour: Behaviour) -> None:
        fake = self.server.fake
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for number, chunk in enumerate(chunks(body, said(body, behaviour), behaviour)):
                if number == behaviour.cut_after:
                    self.close_connection = True
                    return
                fake.stopping.wait(behaviour.pause)
                self._write_event(json.dumps(chunk))
            self._write_event("[DONE]")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True
            fake.abandoned.set()

    def _write_event(self, data: str) -> None:
        event = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.flush()

    def _send(self, behaviour: Behaviour) -> None:
        data = (behaviour.body or "").encode()
        try:
            self.send_response(behaviour.status)
            for name, value in behaviour.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", behaviour.content_type)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            # The client has given up waiting, as its timeout tests mean it to.
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        logger.info(format, *args)


def said(body: Json, behaviour: Behaviour) -> str | None:
    """The content of the answer: the scripted one, or the server's own."""
    is_scripted = behaviour.content is not None or behaviour.refusal or behaviour.tool_calls
    return behaviour.content if is_scripted else own_content(body)


def completion(body: Json, content: str | None, behaviour: Behaviour) -> Json:
    """The chat completion object around a content."""
    message: Json = {"role": "assistant", "content": content, "refusal": behaviour.refusal}
    if behaviour.tool_calls:
        message["tool_calls"] = list(behaviour.tool_calls)
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": _finish_reason(behaviour),
        "logprobs": None,
    }
    found = {**_head(body, "chat.completion"), "choices": [choice]}
    return {**found, "usage": usage(body, content)} if behaviour.counts else found


def chunks(body: Json, content: str | None, behaviour: Behaviour) -> Iterator[Json]:
    """The same as a stream: a role, the words one by one, the calls in two parts, the end."""
    head = _head(body, "chat.completion.chunk")

    def chunk(delta: Json, finish_reason: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return {**head, "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    words = re.findall(r"\S+\s*", content or "")
    last = {"content": words.pop()} if behaviour.is_joined else {}
    for word in words:
        yield chunk({"content": word})
    for index, call in enumerate(behaviour.tool_calls):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        first = {**call, "index": index, "function": {"name": name, "arguments": ""}}
        yield chunk({"tool_calls": [first]})
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})
    yield chunk(last, _finish_reason(behaviour))
    if behaviour.counts and (body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": usage(body, content)}


def _finish_reason(behaviour: Behaviour) -> str:
    return "tool_calls" if behaviour.tool_calls else behaviour.finish_reason


def _head(body: Json, kind: str) -> Json:
    return {
        "id": "chatcmpl-" + hashlib.sha256(json.dumps(body).encode()).hexdigest()[:24],
        "object": kind,
        "created": _CREATED,
        "model": body.get("model", MODEL),
    }


def _json(value: Json) -> Behaviour:
    return Behaviour(body=json.dumps(value))


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="tests.support.openai_server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9999)
    parser.add_argument(
        "--no-json-schema", action="store_true", help="refuse json_schema, as some endpoints do"
    )
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    with FakeOpenAI(
        host=options.host, port=options.port, json_schema=not options.no_json_schema
    ) as fake:
        logger.info("OPENAI_BASE_URL=%s", fake.base_url)
        try:
            fake.wait()
        except KeyboardInterrupt:
            logger.info("stopped")


if __name__ == "__main__":
    main()
