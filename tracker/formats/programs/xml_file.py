"""XML of strangers, read without document types and entities: no bombs, no other files."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np
import pyarrow as pa

from ...errors import InvalidInput

_BLOCK = 65536


class _RootFound(Exception):
    """The head of the file is read."""


def root_of(path: Path) -> str:
    """Return the name of the root element.

    Raises
    ------
    InvalidInput
        If the file cannot be read, is not XML, or has a document type, in which alone entities can be declared.
    """
    found: list[str] = []

    def keep(name: str, _: object) -> None:
        found.append(name)
        raise _RootFound

    parser = _parser(path)
    parser.StartElementHandler = keep
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
        raise InvalidInput(f"{path}: is not XML ({error}).") from error
    raise InvalidInput(f"{path}: is not XML (it has no element).")


def _parser(path: Path) -> expat.XMLParserType:
    """Return a parser that ends at a document type, which stands before the root element, if anywhere."""

    def refuse(*_: object) -> None:
        raise InvalidInput(
            f"{path}: declares a document type, which can hide entities; data files need none. Remove <!DOCTYPE …>."
        )

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    return parser


@dataclass(frozen=True)
class Rows:
    """Elements of one name, in the order of the file.

    Parameters
    ----------
    attributes : list of dict
    parents : list of Element
        What each stands in.
    """

    attributes: list[dict[str, str]] = field(default_factory=list)
    parents: list[ElementTree.Element] = field(default_factory=list)


def parsed(path: Path, apart: Sequence[str] = ()) -> tuple[ElementTree.Element, dict[str, Rows]]:
    """Return a whole file: its root element, and apart from the tree the elements of which there are very many.

    Those of the names in `apart` are rows of attributes: made in a third of the time, and in less memory.

    Raises
    ------
    InvalidInput
        As `root_of`; also if it is cut short.
    """
    root_of(path)
    rows = {name: Rows() for name in apart}
    tree, waiting = ElementTree.TreeBuilder(), list[ElementTree.Element]()

    def begin(name: str, attributes: dict[str, str]) -> None:
        if name in rows and waiting:
            rows[name].attributes.append(attributes)
            rows[name].parents.append(waiting[-1])
        else:
            waiting.append(tree.start(name, attributes))

    def end(name: str) -> None:
        if name == waiting[-1].tag:
            tree.end(name)
            waiting.pop()

    parser = _parser(path)
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, tree.data
    try:
        with path.open("rb") as file:
            parser.ParseFile(file)
        return tree.close(), rows
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise InvalidInput(f"{path}: is damaged XML ({error}).") from error


def element_of(content: bytes, where: Path) -> ElementTree.Element:
    """Return the root element of a short document that stands inside a file; raises `InvalidInput` as `root_of`."""
    tree, parser = ElementTree.TreeBuilder(), _parser(where)
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = tree.start, tree.end, tree.data
    try:
        parser.Parse(content, True)
        return tree.close()
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise InvalidInput(f"{where}: holds damaged XML ({error}).") from error


def attribute(element: ElementTree.Element, name: str, where: Path) -> str:
    """Return an attribute that must be there."""
    value = element.get(name)
    if value is None:
        raise InvalidInput(f"{where}: an element <{element.tag}> needs the attribute {name}, and has none.")
    return value


def column(rows: Sequence[Mapping[str, str]], name: str) -> np.ndarray | list[str | None]:
    """Return an attribute of many elements: numbers where all are (NaN where it is absent), else as it stands."""
    texts = [row.get(name) for row in rows]
    array = pa.array(texts, pa.string())
    for kind in (pa.int64(), pa.float64()):
        with contextlib.suppress(pa.ArrowInvalid):
            return array.cast(kind).to_numpy(zero_copy_only=False)
    return texts
