"""Recognises a file's format and yields its items one by one, however large it is."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import IO, Any

import ijson

from memory.satellites.transfer.formats import git_log, notes, records
from memory.satellites.transfer.formats.items import (
    Given,
    ImportFileError,
    Item,
    ItemMaker,
    object_in,
)
from memory.satellites.transfer.team_export import MARK

# A record of a file by lines or of a list, an agent file and a note may have so many bytes.
MAX_RECORD_BYTES = 64 * 2**20
# What an archive may unpack to, and how many files it may have.
MAX_UNPACKED_BYTES = 4 * 2**30
# One that a request brings, because a thread of the server reads it.
MAX_UPLOADED_BYTES = 2**29
MAX_ARCHIVE_FILES = 100_000
MAX_DEPTH = 100
# The parser looks at a string anew with each read that it goes on in: few reads, little time.
_READ_BYTES = 2**20
_HEAD_BYTES = 64 * 1024
_CHATS = "conversations.json"
# Larger exports of ChatGPT have conversations-000.json, conversations-001.json and so on.
_PART_OF_CHATS = re.compile(r"conversations(-\d+)?\.json")
_NOTES = (".md", ".markdown")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_STEPS = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}

csv.field_size_limit(MAX_RECORD_BYTES)  # of the whole process, where nothing else reads CSV

_Reader = Callable[[Given, str, ItemMaker], Iterator[Item]]
_Files = Iterable[tuple[str, Callable[[], IO[bytes]]]]


class Format(StrEnum):
    """The formats of other systems that are imported."""

    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    MEM0 = "mem0"
    LETTA = "letta"
    GRAPHITI = "graphiti"
    LANGGRAPH = "langgraph"
    MARKDOWN = "markdown"
    JSONL = "jsonl"
    CSV = "csv"
    GIT = "git"


# One list of JSON, or of each under one of these names.
_LISTED: dict[Format, _Reader] = {
    Format.CHATGPT: records.chatgpt_conversation,
    Format.CLAUDE: records.claude_conversation,
    Format.MEM0: records.mem0_memory,
    Format.GRAPHITI: records.graphiti_edge,
}
# Fields that tell the formats apart: of the records in a list, of an object, and of a table.
_BY_FIELDS_OF_RECORDS = {
    "mapping": Format.CHATGPT,
    "chat_messages": Format.CLAUDE,
    "memory": Format.MEM0,
    "payload": Format.MEM0,
    "fact": Format.GRAPHITI,
    "namespace": Format.LANGGRAPH,
}
_BY_FIELDS = {
    "results": Format.MEM0,
    "memories": Format.MEM0,
    "edges": Format.GRAPHITI,
    "facts": Format.GRAPHITI,
    "agents": Format.LETTA,
    "core_memory": Format.LETTA,
    "namespace": Format.LANGGRAPH,
    **dict.fromkeys(("content", "text", "memory"), Format.JSONL),
}
_BY_COLUMNS = dict.fromkeys(("content", "text", "memory"), Format.CSV)
_LIST_NAMES = ("results", "memories", "conversations", "edges", "facts")
_LINED: dict[Format, _Reader] = {
    Format.LANGGRAPH: records.langgraph_item,
    Format.JSONL: records.plain_record,
}


def read_items(
    source: IO[bytes] | Path, *, make: ItemMaker, given: Format | None, name: str = "import"
) -> tuple[Format, Iterator[Item]]:
    """The format, found by the contents where it is not `given`, and the items as they are read.

    `source` is a file that can be read again from its beginning, or a folder of notes; `name` is
    that of the file. Raises ImportFileError, also while items are read, for the first thing that is
    wrong.
    """
    if isinstance(source, Path) and source.is_dir():
        files = [
            (each.relative_to(source).as_posix(), partial(_opened, each))
            for each in source.rglob("*")
        ]
        return Format.MARKDOWN, _notes(files, make)
    file = _opened(source) if isinstance(source, Path) else source
    if file.read(4) == b"PK\x03\x04":
        is_local = isinstance(source, Path)
        most = MAX_UNPACKED_BYTES if is_local else MAX_UPLOADED_BYTES
        return _archive(file, make, given, most=most)
    found = given or _detected(file, name)
    file.seek(0)
    return found, _items(file, found, make, name)


def _opened(path: Path) -> IO[bytes]:
    return path.open("rb")


def _items(
    file: IO[bytes], found: Format, make: ItemMaker, name: str, at: str = ""
) -> Iterator[Item]:
    """The items of one file; `at` is its place in an archive of several."""
    with _readable():
        is_list = found is Format.LANGGRAPH and _head(file)[:1] == b"["
        if found in _LISTED or is_list:
            yield from _listed(file, (_LINED if is_list else _LISTED)[found], make, at)
        elif found in _LINED:
            file.seek(0)
            yield from _lined(file, _LINED[found], make)
        elif found is Format.LETTA:
            value = json.loads(_whole(file, name))
            # Some downloads of Letta's are the file's text as one string of JSON.
            value = json.loads(value) if isinstance(value, str) else value
            yield from records.letta_file(object_in(value, name), "", make)
        elif found is Format.MARKDOWN:
            yield from notes.note_memories(_whole(file, name), name, make)
        elif found is Format.GIT:
            yield from git_log.git_commits(file, make)
        else:
            yield from _table(file, make)


def _listed(file: IO[bytes], read: _Reader, make: ItemMaker, at: str) -> Iterator[Item]:
    """The items of one list of JSON, which is all of the file or stands under a known name."""
    prefix = "item"
    if _head(file)[:1] == b"{":
        names = [name for name in _names(file, "") if name in _LIST_NAMES]
        if not names:
            raise ImportFileError(f"Expected a list, or an object with {', '.join(_LIST_NAMES)}.")
        prefix = f"{names[0]}.item"
    counted = _Counted(file, most=MAX_RECORD_BYTES)
    for index, value in enumerate(ijson.items(_events(counted), prefix)):
        counted.bytes = 0
        place = f"{at}[{index}]"
        yield from read(object_in(value, place), place, make)


def _lined(file: IO[bytes], read: _Reader, make: ItemMaker) -> Iterator[Item]:
    number = 0
    while line := file.readline(MAX_RECORD_BYTES):
        number += 1
        place = f"line {number}"
        if not (text := _decoded(line, place).strip()):
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ImportFileError(f"{place}: Is not JSON ({error}).") from None
        yield from read(object_in(value, place), place, make)


def _table(file: IO[bytes], make: ItemMaker) -> Iterator[Item]:
    wrapped = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    rows = csv.DictReader(wrapped, strict=True)
    try:
        rows.fieldnames = [name.strip().lower() for name in rows.fieldnames or ()]
        for row in rows:
            place = f"line {rows.line_num}"
            if None in row or None in row.values():
                raise ImportFileError(f"{place}: It has not as many columns as the first line.")
            yield from records.plain_record(row, place, make)
    except csv.Error as error:
        raise ImportFileError(f"After line {rows.line_num}: Is not CSV ({error}).") from None
    finally:
        wrapped.detach()


def _notes(files: _Files, make: ItemMaker) -> Iterator[Item]:
    """The items of all notes among the files, without hidden ones."""
    with _readable():
        for name, opened in sorted(files, key=lambda each: each[0]):
            path = Path(name)
            is_hidden = any(part.startswith((".", "__MACOSX")) for part in path.parts)
            if path.suffix.lower() in _NOTES and not is_hidden:
                with opened() as file:
                    yield from notes.note_memories(_whole(file, name), name, make)


def _archive(
    file: IO[bytes], make: ItemMaker, given: Format | None, *, most: int
) -> tuple[Format, Iterator[Item]]:
    """A zip: the conversations of an export as it is downloaded, or the notes in it."""
    file.seek(0)
    with _readable():
        archive = zipfile.ZipFile(file)
        entries = [each for each in archive.infolist() if not each.is_dir()]
        if len(entries) > MAX_ARCHIVE_FILES:
            raise ImportFileError(f"The archive has more than {MAX_ARCHIVE_FILES:,} files.")
        if sum(each.file_size for each in entries) > most:
            raise ImportFileError(f"The archive unpacks to more than {most:,} bytes.")
        chats = [each for each in entries if _PART_OF_CHATS.fullmatch(Path(each.filename).name)]
        if chats and given is not Format.MARKDOWN:
            chats.sort(key=lambda each: each.filename)
            found = given or _detected_in(archive, chats)
            return found, _chats(archive, chats, found, make)
    has_notes = any(Path(each.filename).suffix.lower() in _NOTES for each in entries)
    if not has_notes or given not in (None, Format.MARKDOWN):
        raise ImportFileError(f"The archive has neither {_CHATS} nor notes in Markdown (.md).")
    files = [(each.filename, partial(archive.open, each)) for each in entries]
    return Format.MARKDOWN, _notes(files, make)


def _chats(
    archive: zipfile.ZipFile, parts: list[zipfile.ZipInfo], found: Format, make: ItemMaker
) -> Iterator[Item]:
    for part in parts:
        at = part.filename if len(parts) > 1 else ""
        with _readable(), archive.open(part) as entry:
            yield from _items(entry, found, make, _CHATS, at)


def _detected_in(archive: zipfile.ZipFile, parts: list[zipfile.ZipInfo]) -> Format:
    """The format of the first part that is not an empty list."""

    def is_empty(part: zipfile.ZipInfo) -> bool:
        with archive.open(part) as entry:
            return b"".join(_head(entry).split()) == b"[]"

    part = next((each for each in parts if not is_empty(each)), parts[0])
    # An entry can be sought, which reads it from its beginning.
    with archive.open(part) as entry:
        return _detected(entry, _CHATS)


def _detected(file: IO[bytes], name: str) -> Format:
    """The format that the beginning of the file shows; ImportFileError for none."""
    if name.lower().endswith(_NOTES):
        return Format.MARKDOWN
    head = _head(file)
    if not head:
        raise ImportFileError("The file is empty.")
    with _readable():
        if head[:1] == b"[":
            return _by_fields(_names(file, "item"), _BY_FIELDS_OF_RECORDS)
        if head[:1] == b"{":
            try:
                names: Iterable[str] = json.loads(_first_line(file))
            except ValueError:
                names = _names(file, "")
            return _by_fields(names, _BY_FIELDS)
    if head.startswith(b'"{'):
        return Format.LETTA
    if head.startswith(b"---"):
        return Format.MARKDOWN
    if git_log.BEGINNING.match(head):
        return Format.GIT
    columns = head.split(b"\n", 1)[0].decode(errors="replace").lower().replace('"', "")
    return _by_fields(map(str.strip, columns.split(",")), _BY_COLUMNS)


def _by_fields(names: Iterable[str], known: Mapping[str, Format]) -> Format:
    given = set(names)
    if MARK in given:
        raise ImportFileError(
            "This is the export of a team: the operator imports it with `manage.py import_team`."
        )
    if found := next((each for field, each in known.items() if field in given), None):
        return found
    raise ImportFileError(
        f"The file is of none of the formats {', '.join(Format)}, by what it begins with; name its"
        " format if it is.",
        field="format",
    )


def _head(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read(_HEAD_BYTES).removeprefix(_BYTE_ORDER_MARK).lstrip()


def _first_line(file: IO[bytes]) -> bytes:
    """The first line that is not blank, or as much of it as a record may have."""
    file.seek(0)
    while line := file.readline(MAX_RECORD_BYTES):
        if text := line.removeprefix(_BYTE_ORDER_MARK).strip():
            return text
    return b""


def _names(file: IO[bytes], prefix: str) -> list[str]:
    """The names of the fields of the first object at that place of the JSON."""
    found = []
    for place, event, value in _events(_Counted(file)):
        if place == prefix and event == "map_key":
            found.append(str(value))
        if place == prefix and event == "end_map":
            break
    return found


class _Counted:
    """A JSON file behind its byte order mark, which counts the `bytes` that are read of it.

    Raises ImportFileError where they are more than `most`: a record is built as a whole.
    """

    def __init__(self, file: IO[bytes], *, most: int | None = None) -> None:
        self.bytes = 0
        self._file, self._most = file, most
        file.seek(0)
        if file.read(len(_BYTE_ORDER_MARK)) != _BYTE_ORDER_MARK:
            file.seek(0)

    def read(self, size: int = -1) -> bytes:
        """Returns the next bytes."""
        content = self._file.read(size)
        self.bytes += len(content)
        if self._most is not None and self.bytes > self._most:
            raise ImportFileError(f"A record has more than {self._most:,} bytes.")
        return content


def _events(file: _Counted) -> Iterator[tuple[str, str, Any]]:
    """The parser's events with their places, which it keeps for each level: few are allowed."""

    def bounded() -> Iterator[tuple[str, Any]]:  # Any: values of JSON
        depth = 0
        for event, value in ijson.basic_parse(file, use_float=True, buf_size=_READ_BYTES):
            depth += _STEPS.get(event, 0)
            if depth > MAX_DEPTH:
                raise ImportFileError(f"The file nests values more than {MAX_DEPTH} deep.")
            yield event, value

    events: Iterator[tuple[str, str, Any]] = ijson.parse(bounded())
    return events


def _whole(file: IO[bytes], place: str) -> str:
    content = file.read(MAX_RECORD_BYTES + 1)
    if len(content) > MAX_RECORD_BYTES:
        raise ImportFileError(f"{place}: Has more than {MAX_RECORD_BYTES:,} bytes.")
    return _decoded(content, place)


def _decoded(content: bytes, place: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ImportFileError(f"{place}: Is not UTF-8 text.") from None


@contextmanager
def _readable() -> Iterator[None]:
    """Errors of the readers of JSON and archives, as what is wrong with the file."""
    try:
        yield
    except ImportFileError:
        raise
    except (ijson.JSONError, json.JSONDecodeError, RecursionError) as error:
        words: Any = str(error).strip().splitlines()  # Any: a line of the library's own words
        raise ImportFileError(f"The file is not JSON: {(words or ['it is cut off'])[0]}.") from None
    except UnicodeDecodeError:
        raise ImportFileError("The file is not UTF-8 text.") from None
    except (ValueError, TypeError, AttributeError, LookupError):
        # A value of another kind than the format's, of which there are too many to name.
        raise ImportFileError("The file has a value that its format does not allow.") from None
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise ImportFileError(f"The archive cannot be read: {error}.") from None
