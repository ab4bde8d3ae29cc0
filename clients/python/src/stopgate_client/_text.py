"""Text that arrives in parts which split characters."""

from __future__ import annotations

import codecs
from typing import Union

from .errors import BadArguments


class Decoder:
    """Joins parts of a text so that each result is whole characters.

    Bytes can end in the middle of a UTF-8 sequence, strings between two halves of a surrogate pair.
    Anything else that is not Unicode raises BadArguments: it is not repaired.
    """

    def __init__(self) -> None:
        self._bytes = codecs.getincrementaldecoder("utf-8")()
        self._half = ""

    def feed(self, part: Union[str, bytes]) -> str:
        """Returns the text that the part completes."""
        if isinstance(part, (bytes, bytearray)):
            try:
                part = self._bytes.decode(part)
            except UnicodeDecodeError:
                raise BadArguments("the arguments are not UTF-8") from None
        elif not isinstance(part, str):
            raise BadArguments(f"a part of arguments is text or bytes, not {type(part).__name__}")
        if not self._half and (not part or (part.isascii())):
            return part
        text, self._half = self._half + part, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise BadArguments("the arguments have half a surrogate pair, which UTF-8 cannot represent") from None

    def finish(self) -> None:
        """Raises BadArguments if the text ends in the middle of a character."""
        try:
            self._bytes.decode(b"", True)
        except UnicodeDecodeError:
            raise BadArguments("the arguments end in the middle of a character") from None
        if self._half:
            raise BadArguments("the arguments end in the middle of a character")
