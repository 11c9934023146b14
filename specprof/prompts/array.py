"""The objects of one JSON array, read piece by piece: published data sets ship as arrays of hundreds of megabytes."""

import codecs
import io
import json
import re
from collections.abc import Iterator
from json import JSONDecodeError
from typing import Any

from specprof.errors import BadRecordError
from specprof.prompts.lines import checked

PIECE_BYTES = 1 << 20
_NEAR_END = 16  # characters: a literal, a number or an escape that the piece cuts is no fault yet
_SPACE = re.compile(r"[ \t\r\n]*")
_REST = "the rest of the file is not read; look at it with `jq length FILE`"


class _Text:
    """A window of the text. `at` is the first character that is not used up, on line `line` of the file."""

    def __init__(self, stream: io.BufferedReader, name: str) -> None:
        self.held, self.at, self.line = "", 0, 1
        self._stream, self._name = stream, name
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()

    @property
    def place(self) -> str:
        return f"{self._name}:{self.line}"

    def more(self) -> bool:
        """Read as much again as is left in the window, at least one piece; False at the end."""
        data = self._stream.read(max(PIECE_BYTES, len(self.held) - self.at))
        try:
            self.held, self.at = self.held[self.at :] + self._decoder.decode(data, final=not data), 0
        except UnicodeDecodeError as error:
            hint = "save the file as UTF-8"
            raise BadRecordError(self.place, f"or a line after it is not UTF-8: {error.reason}", hint) from error
        return bool(data)

    def use_up_to(self, end: int) -> None:
        self.line += self.held.count("\n", self.at, end)
        self.at = end

    def sign(self) -> str:
        """The next character that is no white space, not used up; empty at the end."""
        while True:
            if space := _SPACE.match(self.held, self.at):
                self.use_up_to(space.end())
            if self.at < len(self.held) or not self.more():
                return self.held[self.at : self.at + 1]

    def expect(self, sign: str) -> None:
        if (found := self.sign()) != sign:
            what = f"`{found}`" if found else "the end of the file"
            raise BadRecordError(self.place, f"has {what} where `{sign}` should be", _REST)
        self.at += 1

    def value(self) -> tuple[Any, str]:
        """The next JSON value and its text, used up. The window grows until it holds all of it."""
        while True:
            try:
                value, end = json.JSONDecoder().raw_decode(self.held, self.at)
            except JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated string") or error.pos >= len(self.held) - _NEAR_END
                if cut and self.more():
                    continue
                self.use_up_to(error.pos)
                raise BadRecordError(self.place, f"is not JSON: {error.msg}", _REST) from error
            except (ValueError, RecursionError) as error:
                raise BadRecordError(self.place, f"is not JSON that can be read: {error}", _REST) from error
            text = self.held[self.at : end]
            self.use_up_to(end)
            return value, text


def elements(stream: io.BufferedReader, name: str) -> Iterator[tuple[str, dict[str, Any] | BadRecordError]]:
    """(`file:line` where it begins, object) of every element; an element that is no object comes as its error.
    Broken JSON is raised: nothing after it can be told apart."""
    text = _Text(stream, name)
    text.expect("[")
    if text.sign() == "]":
        raise BadRecordError(name, "is an empty array", "write objects into it")
    while True:
        text.sign()
        place = text.place
        yield place, _object(place, *text.value())
        if text.sign() != ",":
            break
        text.at += 1
    text.expect("]")
    if found := text.sign():
        raise BadRecordError(text.place, f"has `{found}` after the end of the array", _REST)


def _object(place: str, value: Any, text: str) -> dict[str, Any] | BadRecordError:
    try:
        return checked(place, value, suspect="\\ud" in text.lower())
    except BadRecordError as error:
        return error
