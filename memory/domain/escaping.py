"""Remembered text inside a prompt: one line that can open, close or forge nothing.

What would be structure to a reader of the prompt is written as an HTML entity, so that nothing is
lost: `html.unescape` gives the readable text back. Ordinary words stay as they are.
"""

from __future__ import annotations

import html
import re

_JOINERS = "\u200c\u200d"
# Tags and variation selectors that show as nothing and can carry a hidden text byte by byte.
_HIDDEN = re.compile("[\U000e0000-\U000e0fff]")

# What a prompt of ours, or a common chat template, calls its own lines.
_LABELS = (
    "identity|user-profile|preference|fact|note|event|pattern|team|insight|summary"
    "|inst|sys|system|assistant|user|tool"
)
_STRUCTURE = re.compile(
    r"<(?=[A-Za-z/!?|<])"  # tags, comments, the tokens of chat templates
    r"|(?<!\S)\#{1,6}(?=\s|$)"  # headings
    r"|`{3,}|~{3,}"  # fences
    r"|═{3,}"  # the rule that frames read-only memory (seed 001)
    rf"|\[(?=\s*/?\s*(?:{_LABELS})(?:\s+\d{{4}}-\d\d-\d\d)?(?:\s+disputed)?\s*\])"  # our labels
    r"|\[(?=\s*said\s+\d{4}-\d\d-\d\d\s+by\b)"  # and who said what
    r"|\[(?=[^\[\]]{1,60}\]\s*:)"  # whatever looks like one
    r"|\((?=\s*(?:importance|contradicts|confidence)\s*:|\s*\d+%\s+success)",  # our remarks
    re.IGNORECASE,
)
# One of these is in every structure; most texts have none and are done.
_SPECIAL = re.compile(r"[<#`~═\[(]")
_ENTITY = re.compile(r"&(?=\#|[A-Za-z])")


def plain_line(text: str) -> str:
    """The text on one line, without control, bidirectional and invisible characters."""
    line = " ".join(text.split())
    if line.isprintable() and not _HIDDEN.search(line):
        return line
    # Slow, so only where more than line breaks and tabs is to go.
    return " ".join("".join(_readable(line, place) for place in range(len(line))).split())


def beginning(text: str, *, longest: int) -> str:
    """The plain line, or of a longer one some `longest` characters with an ellipsis behind."""
    line = plain_line(text)
    if len(line) <= longest:
        return line
    head = line[:longest]
    # Not within a word, unless that would leave next to nothing.
    space = head.rfind(" ")
    return f"{head[: space if space >= longest // 2 else longest].rstrip()} …"


def plain_block(text: str) -> str:
    """The lines of a trusted author: line breaks stay, control characters go."""
    return "\n".join(plain_line(line) for line in text.splitlines()).strip()


def escaped_line(text: str) -> str:
    """The text on one line in which nothing is a heading, label, tag, fence or rule."""
    line = plain_line(text)
    if "&" in line and html.unescape(line) != line:
        line = _ENTITY.sub("&amp;", line)
    return _STRUCTURE.sub(_as_entities, line) if _SPECIAL.search(line) else line


def quoted(text: str) -> str:
    """The escaped line between quotation marks that it cannot close."""
    return '"' + escaped_line(text).replace('"', "&quot;") + '"'


def quotation(text: str) -> str:
    """The escaped line between curly quotation marks that it cannot close."""
    return "“" + escaped_line(text).replace("“", "&#8220;").replace("”", "&#8221;") + "”"


def _readable(text: str, place: int) -> str:
    char = text[place]
    if char in _JOINERS:
        # Emoji families and Persian words need them; after ASCII they could only hide something.
        before = text[place - 1 : place]
        is_joined = before.isprintable() and not before.isascii() and not _HIDDEN.match(before)
        return char if is_joined else ""
    if _HIDDEN.match(char) or char in "\u00ad\ufeff":
        return ""
    if char.isprintable():
        return char
    is_format = "\u200b" <= char <= "\u206f" and char not in "\u2028\u2029"
    return "" if is_format else " "


def _as_entities(found: re.Match[str]) -> str:
    return "".join("&lt;" if char == "<" else f"&#{ord(char)};" for char in found[0])
