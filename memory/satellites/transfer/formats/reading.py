"""Which format a file is of, and its items one after the other, however large it is."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

import ijson

from memory.satellites.transfer.formats import chats, notes, records
from memory.satellites.transfer.formats.items import (
    Given,
    ImportFileError,
    Item,
    ItemMaker,
    object_in,
)
from memory.satellites.transfer.tables import MARK

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
_IN_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
# One that begins at a quote which is not itself escaped, in a string that has no end yet.
_STRING = re.compile(rb'(?<!\\)"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[{]+|[\]}]+")
_CHATS = "conversations.json"
_NOTES = (".md", ".markdown")

csv.field_size_limit(MAX_RECORD_BYTES)  # of the whole process, where nothing else reads CSV

_Reader = Callable[[Given, str, ItemMaker], Iterator[Item]]


class Format(StrEnum):
    """The formats of other systems that are imported."""

    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    MEM0 = "mem0"
    LETTA = "letta"
    LANGGRAPH = "langgraph"
    MARKDOWN = "markdown"
    JSONL = "jsonl"
    CSV = "csv"


# One list of JSON, or of each under one of these names.
_LISTED: dict[Format, _Reader] = {
    Format.CHATGPT: chats.chatgpt_conversation,
    Format.CLAUDE: chats.claude_conversation,
    Format.MEM0: records.mem0_memory,
}
_LIST_NAMES = ("results", "memories", "conversations")
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
        return Format.MARKDOWN, _folder(source, make)
    file = source.open("rb") if isinstance(source, Path) else source
    if file.read(4) == b"PK\x03\x04":
        is_local = isinstance(source, Path)
        most = MAX_UNPACKED_BYTES if is_local else MAX_UPLOADED_BYTES
        return _archive(file, make, given, most=most)
    found = given or _detected(file, name)
    file.seek(0)
    return found, _items(file, found, make, name)


def _items(file: IO[bytes], found: Format, make: ItemMaker, name: str) -> Iterator[Item]:
    with _readable():
        if found in _LISTED:
            yield from _listed(file, _LISTED[found], make)
        elif found in _LINED:
            yield from _lined(file, _LINED[found], make)
        elif found is Format.LETTA:
            yield from chats.letta_file(object_in(json.loads(_whole(file, name)), name), "", make)
        elif found is Format.MARKDOWN:
            yield from notes.note_memories(_whole(file, name), name, make)
        else:
            yield from _table(file, make)


def _listed(file: IO[bytes], read: _Reader, make: ItemMaker) -> Iterator[Item]:
    """The items of one list of JSON, which is all of the file or stands under a known name."""
    prefix = "item"
    if _first_character(file) == b"{":
        names = [name for name in _top_names(file) if name in _LIST_NAMES]
        if not names:
            raise ImportFileError(f"Expected a list, or an object with {', '.join(_LIST_NAMES)}.")
        prefix = f"{names[0]}.item"
    file.seek(0)
    nested = _Nested(file, most_between=MAX_RECORD_BYTES)
    values = ijson.items(nested, prefix, use_float=True, buf_size=_READ_BYTES)
    for index, value in enumerate(values):
        nested.between = 0
        place = f"[{index}]"
        yield from read(object_in(value, place), place, make)


def _lined(file: IO[bytes], read: _Reader, make: ItemMaker) -> Iterator[Item]:
    number = 0
    while line := file.readline(MAX_RECORD_BYTES):
        number += 1
        place = f"line {number}"
        text = _decoded(line, place).strip()
        if not text:
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


def _folder(folder: Path, make: ItemMaker) -> Iterator[Item]:
    files = (each for each in sorted(folder.rglob("*")) if each.suffix.lower() in _NOTES)
    with _readable():
        for each in files:
            name = each.relative_to(folder).as_posix()
            if not any(part.startswith(".") for part in Path(name).parts):
                with each.open("rb") as file:
                    yield from notes.note_memories(_whole(file, name), name, make)


def _archive(
    file: IO[bytes], make: ItemMaker, given: Format | None, *, most: int
) -> tuple[Format, Iterator[Item]]:
    """A zip: the conversations.json of an export as it is downloaded, or the notes in it."""
    file.seek(0)
    with _readable():
        archive = zipfile.ZipFile(file)
        entries = [each for each in archive.infolist() if not each.is_dir()]
        if len(entries) > MAX_ARCHIVE_FILES:
            raise ImportFileError(f"The archive has more than {MAX_ARCHIVE_FILES:,} files.")
        if sum(each.file_size for each in entries) > most:
            raise ImportFileError(f"The archive unpacks to more than {most:,} bytes.")
        chat = next((each for each in entries if Path(each.filename).name == _CHATS), None)
        if chat is not None and given is not Format.MARKDOWN:
            # An entry can be sought, which reads it from its beginning.
            entry = archive.open(chat)
            found = given or _detected(entry, _CHATS)
            entry.seek(0)
            return found, _items(entry, found, make, _CHATS)
    wanted = [each for each in entries if Path(each.filename).suffix.lower() in _NOTES]
    if not wanted or given not in (None, Format.MARKDOWN):
        raise ImportFileError(f"The archive has neither {_CHATS} nor notes in Markdown (.md).")
    return Format.MARKDOWN, _archived_notes(archive, wanted, make)


def _archived_notes(
    archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], make: ItemMaker
) -> Iterator[Item]:
    with _readable():
        for each in sorted(entries, key=lambda entry: entry.filename):
            if not any(part.startswith((".", "__MACOSX")) for part in Path(each.filename).parts):
                with archive.open(each) as file:
                    text = _whole(file, each.filename)
                    yield from notes.note_memories(text, each.filename, make)


def _detected(file: IO[bytes], name: str) -> Format:
    """The format that the beginning of the file shows; ImportFileError for none."""
    file.seek(0)
    head = file.read(_HEAD_BYTES)
    first = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if name.lower().endswith(_NOTES):
        return Format.MARKDOWN
    with _readable():
        if first[:1] == b"[":
            return _by_fields(set(_first_names(file)), listed=True)
        if first[:1] == b"{":
            try:
                value = json.loads(_first_line(file))
            except ValueError:
                return _by_fields(set(_top_names(file)), listed=False)
            return _by_fields(set(value), listed=False)
    if first.startswith(b"---"):
        return Format.MARKDOWN
    columns = first.split(b"\n", 1)[0].decode(errors="replace").lower().replace('"', "")
    if {"content", "text", "memory"} & {each.strip() for each in columns.split(",")}:
        return Format.CSV
    raise _unknown()


def _by_fields(names: set[str], *, listed: bool) -> Format:
    if MARK in names:
        raise ImportFileError(
            "This is the export of a team: the operator imports it with `manage.py import_team`."
        )
    if listed:
        known = {"mapping": Format.CHATGPT, "chat_messages": Format.CLAUDE, "memory": Format.MEM0}
    else:
        known = {
            "results": Format.MEM0,
            "memories": Format.MEM0,
            "agents": Format.LETTA,
            "core_memory": Format.LETTA,
            "namespace": Format.LANGGRAPH,
            **dict.fromkeys(("content", "text", "memory"), Format.JSONL),
        }
    for field, found in known.items():
        if field in names:
            return found
    raise _unknown()


def _unknown() -> ImportFileError:
    return ImportFileError(
        f"The file is of none of the formats {', '.join(Format)}, by what it begins with; name its"
        " format if it is.",
        field="format",
    )


def _first_line(file: IO[bytes]) -> bytes:
    """The first line that is not blank, or as much of it as a record may have."""
    file.seek(0)
    while line := file.readline(MAX_RECORD_BYTES):
        if text := line.removeprefix(b"\xef\xbb\xbf").strip():
            return text
    return b""


def _first_names(file: IO[bytes]) -> Iterator[str]:
    """The names of the fields of the first object in a list."""
    file.seek(0)
    for prefix, event, value in ijson.parse(_Nested(file), use_float=True, buf_size=_READ_BYTES):
        if prefix == "item" and event == "map_key":
            yield str(value)
        if prefix == "item" and event == "end_map":
            return


def _top_names(file: IO[bytes]) -> Iterator[str]:
    """The names of the fields of the object that the file is."""
    file.seek(0)
    for prefix, event, value in ijson.parse(_Nested(file), use_float=True, buf_size=_READ_BYTES):
        if prefix == "" and event == "map_key":
            yield str(value)


def _first_character(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read(_HEAD_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]


class _Nested:
    """A JSON file behind its byte order mark that refuses to be nested deeper than anybody needs.

    The parser keeps a path for each level, so that a file of brackets alone would fill the memory;
    and it builds each record whole, so that `between` two of them only so many bytes are read.
    """

    def __init__(self, file: IO[bytes], *, most_between: int | None = None) -> None:
        self.between = 0
        self._most_between = most_between
        self._file = file
        self._depth = 0
        self._is_string = False
        self._is_escaped = False
        file.seek(0)
        if file.read(3) != b"\xef\xbb\xbf":
            file.seek(0)

    def read(self, size: int = -1) -> bytes:
        """The next bytes; ImportFileError where they nest too deep or a record has too many."""
        content = self._file.read(size)
        self.between += len(content)
        if self._most_between is not None and self.between > self._most_between:
            raise ImportFileError(f"A record has more than {self._most_between:,} bytes.")
        rest = self._outside(content)
        for brackets in _BRACKETS.findall(rest):
            self._depth += len(brackets) if brackets[0] in b"[{" else -len(brackets)
            if self._depth > MAX_DEPTH:
                raise ImportFileError(f"The file nests values more than {MAX_DEPTH} deep.")
        return content

    def _outside(self, content: bytes) -> bytes:
        """What of it stands outside of strings, which may go on from one read to the next."""
        if not content:
            return b""
        if self._is_string:
            begun = _IN_STRING.match(content, 1 if self._is_escaped else 0)
            end = begun.end() if begun else len(content)
            self._is_escaped = content[end:] == b"\\"
            if content[end : end + 1] != b'"':
                return b""
            content = content[end + 1 :]
        outside, quote, string = _STRING.sub(b"", content).partition(b'"')
        self._is_string = bool(quote)
        self._is_escaped = len(string) - len(string.rstrip(b"\\")) & 1 == 1
        return outside


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
