"""XML of strangers, read without document types and entities: no bombs, no other files."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from ..errors import InvalidInput

_BLOCK = 65536


class _RootFound(Exception):
    """The head of the file is read."""


def root_of(path: Path) -> str:
    """Return the name of the root element.

    Raises
    ------
    InvalidInput
        If the file cannot be read, is no XML, or has a document type, in which alone entities can be declared.
    """
    found: list[str] = []

    def refuse(*_: object) -> None:
        raise InvalidInput(
            f"{path}: declares a document type, in which XML hides entities; data files need none. Remove <!DOCTYPE …>."
        )

    def keep(name: str, _: object) -> None:
        found.append(name)
        raise _RootFound

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = refuse, keep
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                parser.Parse(block)
            parser.Parse(b"", True)
    except _RootFound:
        return found[0]
    except FileNotFoundError as error:
        raise InvalidInput(f"{path}: there is no such file.") from error
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror or error}).") from error
    except (expat.ExpatError, LookupError, ValueError) as error:  # of an unknown encoding, LookupError or ValueError
        raise InvalidInput(f"{path}: is no XML ({error}).") from error
    raise InvalidInput(f"{path}: is no XML (it has no element).")


def parsed(path: Path) -> ElementTree.Element:
    """Return the root element of a whole file.

    Raises
    ------
    InvalidInput
        As `root_of`; also if it is cut short.
    """
    root_of(path)  # a document type stands before the root element, if anywhere
    try:
        return ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise InvalidInput(f"{path}: is damaged XML ({error}).") from error


def attribute(element: ElementTree.Element, name: str, where: Path) -> str:
    """Return an attribute that must be there."""
    value = element.get(name)
    if value is None:
        raise InvalidInput(f"{where}: an element <{element.tag}> needs the attribute {name}, and has none.")
    return value
