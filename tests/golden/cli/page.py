"""An HTML page of plait taken apart: whether it is whole and needs nothing else, its texts, tables, plots and pictures."""

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

import numpy as np

VOID = {"br", "meta"}
PLOT = dict(width=640, left=74, right=18, top=16, bottom=46)
POINT = re.compile(r"[ML](-?[\d.]+) (-?[\d.]+)")


@dataclass
class Svg:
    """A picture: its attributes, its paths as (class, d, opacity, stroke width), its texts as (class, x, y, text), the
    attributes of what tells numbers of cells, and what is shown where the pointer rests."""

    attributes: dict
    paths: list = field(default_factory=list)
    texts: list = field(default_factory=list)
    cells_told: list = field(default_factory=list)
    hovers: list = field(default_factory=list)

    @property
    def titles(self) -> list[str]:
        return [text for kind, _, _, text in self.texts if kind == "title"]

    @property
    def words(self) -> str:
        return self.attributes["aria-label"]

    def curve(self, mark: str) -> np.ndarray:
        """The y of a curve's points, as read off a logarithmic or linear axis by its ticks."""
        d = next(d for kind, d, _, _ in self.paths if kind == mark)
        return self.read([float(y) for _, y in POINT.findall(d)])

    def read(self, heights: list[float]) -> np.ndarray:
        ticks = [(y - 4, text) for kind, x, y, text in self.texts if kind is None and x == PLOT["left"] - 6]
        places = np.array([place for place, _ in ticks])
        is_logarithmic = any("e" in text for _, text in ticks) and all(re.fullmatch(r"1(e-?\d+)?", text) for _, text in ticks)
        numbers = np.array([float(text) for _, text in ticks])
        line = np.polyfit(places, np.log10(numbers) if is_logarithmic else numbers, 1)
        read = np.polyval(line, np.array(heights))
        return 10**read if is_logarithmic else read

    @property
    def numbers(self) -> np.ndarray:
        """What the pointer tells of the cells."""
        (told,) = self.cells_told
        rows, columns = map(int, told["data-cells"].split(";"))
        return np.array(told["data-numbers"].split(";"), float).reshape(rows, columns)

    def hovered(self, pattern: str) -> list[tuple[float, ...]]:
        """The numbers in what the pointer tells of other things, of that pattern."""
        return [tuple(map(float, found.groups())) for text in self.hovers if (found := re.fullmatch(pattern, text))]

    def cells(self, rows: int, columns: int) -> np.ndarray:
        """The shades of a picture of that many cells, from -8 to 8."""
        shades = np.zeros((rows, columns), int)
        shown = [path for path in self.paths if re.fullmatch("[pm][1-8]", path[0] or "")]
        frame = next(d for kind, d, _, _ in self.paths if kind == "level" and d.startswith("M0 0H"))
        places: dict[tuple[int, int], str] = {}
        width, height = map(float, re.match(r"M0 0H([\d.]+)V([\d.]+)", frame).groups())
        for kind, d, _, _ in shown:
            for x, y, to in re.findall(r"M([\d.]+) ([\d.]+)H([\d.]+)", d):
                row = int(float(y) * rows / height)
                begin, end = (round(float(at) * columns / width) for at in (x, to))
                for at, place in ((begin, x), (end, to)):
                    assert places.setdefault((row, at), place) == place, "cells meet without a gap"
                assert not shades[row, begin:end].any(), "a cell is drawn once"
                shades[row, begin:end] = int(kind[1]) * (1 if kind[0] == "p" else -1)
        return shades


class Page(HTMLParser):
    """Finds elements that are not closed, and anything that a page would have to fetch."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.found: Counter[str] = Counter()
        self.fetched: list[str] = []
        self.svgs: list[Svg] = []
        self.rows: list[list[str]] = []
        self.texts: dict[str, list[str]] = {"h1": [], "h2": [], "title": [], "p": [], "b": [], "code": []}
        self.inside: list[tuple[str, dict]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found[tag] += 1
        self.fetched += [value for key, value in attributes if key in ("src", "href", "xlink:href")]
        given = dict(attributes)
        if tag == "svg":
            self.svgs.append(Svg(given))
        elif tag == "path":
            self.svgs[-1].paths.append((given.get("class"), given["d"], given.get("opacity"), given.get("stroke-width")))
        elif tag == "text":
            self.svgs[-1].texts.append((given.get("class"), float(given.get("x", "nan")), float(given.get("y", "nan")), ""))
        elif tag == "title" and "svg" in self.open:
            self.svgs[-1].hovers.append("")
        elif tag == "rect" and given.get("class") == "cells":
            self.svgs[-1].cells_told.append(given)
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag in self.texts:
            self.texts[tag].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if self.open[-1:] == ["title"] and "svg" in self.open:
            self.svgs[-1].hovers[-1] += data
            return
        if self.open and self.open[-1] == "text":
            kind, x, y, text = self.svgs[-1].texts[-1]
            self.svgs[-1].texts[-1] = (kind, x, y, text + data)
        for tag in reversed(self.open):
            if tag in ("td", "th"):
                self.rows[-1][-1] += data
                break
            if tag in self.texts:
                self.texts[tag][-1] += data
                break

    @property
    def plots(self) -> list[Svg]:
        return [svg for svg in self.svgs if svg.attributes.get("class") == "plot"]

    def plot(self, words: str) -> Svg:
        """The only one whose description begins like that."""
        (found,) = [svg for svg in self.plots if svg.words.startswith(words)]
        return found

    def value(self, what: str) -> str:
        """Beside a text in a table."""
        (found,) = [row[1] for row in self.rows if len(row) == 2 and row[0] == what]
        return found
