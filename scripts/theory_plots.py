"""Draws the points of the theory's tests as SVG files, one for each figure.

usage: theory_plots.py points.csv FOLDER
"""

import csv
import math
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 560, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 40, 46
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7"]
INK, MUTED, GRID = "#1b1f24", "#57606a", "#e6e9ec"

Lines = dict[str, list[tuple[float, float]]]


@dataclass
class Figure:
    """What the points do not say."""

    title: str
    x: str
    y: str
    log_x: bool = True
    marks: bool = True
    dashed: tuple[str, ...] = ()


FIGURES = {
    "simplex": Figure("Variance outside of c − 1 directions", "ε", "part of the variance"),
    "loss": Figure(
        "Trimmed loss, fit by fit",
        "fit",
        "loss",
        log_x=False,
        dashed=("bound of boba", "bound of boba-es"),
    ),
    "error": Figure(
        "Squared error of the result",
        "ε = ε_s",
        "squared error",
        dashed=("bound with 3 attackers",),
    ),
    "growth": Figure(
        "Squared error under the worst attack",
        "multiple of the first value",
        "multiple of the first error",
    ),
    "convergence": Figure(
        "Mean squared gradient",
        "steps T",
        "mean |∇L|²",
        marks=False,
        dashed=("bound", "bound under simplex"),
    ),
    "convex": Figure(
        "Distance from the optimum",
        "step",
        "|w − w*|",
        log_x=False,
        marks=False,
        dashed=("bound under simplex",),
    ),
}


def read(path: str) -> dict[str, Lines]:
    """Figures, their lines, their points."""
    figures: dict[str, Lines] = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            lines = figures.setdefault(row["figure"], {})
            lines.setdefault(row["line"], []).append((float(row["x"]), float(row["y"])))
    return figures


def power(exponent: int) -> str:
    """Ten to the power of a whole number."""
    if exponent in (0, 1):
        return "10" if exponent else "1"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


class Axis:
    """From values to places between two ends."""

    def __init__(self, values: list[float], log: bool, first: float, last: float) -> None:
        """Takes all values there will be."""
        self.log = log
        low, high = self._at(min(values)), self._at(max(values))
        room = 0.04 * (high - low) or 0.5
        self.low, self.high = low - room, high + room
        self.first, self.last = first, last

    def _at(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def place(self, value: float) -> float:
        """Where it is."""
        part = (self._at(value) - self.low) / (self.high - self.low)
        return self.first + part * (self.last - self.first)

    def ticks(self) -> list[tuple[float, str]]:
        """Round values, with their names; whole ones where the axis is not logarithmic."""
        if self.log:
            whole = range(math.ceil(self.low), math.floor(self.high) + 1)
            step = max(1, math.ceil(len(whole) / 7))
            return [(10.0**k, power(k)) for k in whole[::step]]
        span = self.high - self.low
        step = next(m for m in (1, 2, 5, 10, 20, 50, 100, 1000) if span / m <= 8)
        first = math.ceil(self.low / step)
        return [(k * step, f"{k * step}") for k in range(first, math.floor(self.high / step) + 1)]


def line(ax: float, ay: float, bx: float, by: float, style: str) -> str:
    """From a to b."""
    return f'<line x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{by:.1f}" {style}/>'


def text(x: float, y: float, words: str, fill: str = MUTED, more: str = "") -> str:
    """Words at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" {more}>{escape(words)}</text>'


def frame(figure: Figure, x: Axis, y: Axis) -> list[str]:
    """Everything but the lines."""
    grid = f'stroke="{GRID}"'
    out = [text(LEFT, 20, figure.title, INK, 'font-size="14" font-weight="bold"')]
    for value, words in x.ticks():
        at = x.place(value)
        out.append(line(at, y.last, at, y.first, grid))
        out.append(text(at, y.first + 16, words, more='text-anchor="middle"'))
    for value, words in y.ticks():
        at = y.place(value)
        out.append(line(x.first, at, x.last, at, grid))
        out.append(text(x.first - 6, at + 4, words, more='text-anchor="end"'))
    out.append(text((x.first + x.last) / 2, HEIGHT - 10, figure.x, more='text-anchor="middle"'))
    middle = (y.first + y.last) / 2
    turned = f'text-anchor="middle" transform="rotate(-90 16 {middle:.1f})"'
    out.append(text(16, middle, figure.y, more=turned))
    return out


def draw(figure: Figure, lines: Lines) -> str:
    """The SVG file."""
    every = [point for points in lines.values() for point in points]
    legend = 18 * ((len(lines) + 1) // 2)
    x = Axis([p[0] for p in every], figure.log_x, LEFT, WIDTH - RIGHT)
    y = Axis([p[1] for p in every], True, HEIGHT - BOTTOM, TOP + legend)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{escape(figure.title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        *frame(figure, x, y),
    ]
    for index, (label, points) in enumerate(lines.items()):
        dashed = label in figure.dashed
        colour = COLOURS[index % len(COLOURS)]
        style = f'fill="none" stroke="{colour}" stroke-width="1.8"'
        if dashed:
            style += ' stroke-dasharray="6 4"'
        places = [(x.place(a), y.place(b)) for a, b in points]
        out.append(
            f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in places)}" {style}/>'
        )
        if figure.marks and not dashed:
            out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in places]
        left = LEFT + (index % 2) * (WIDTH - LEFT - RIGHT) / 2
        top = TOP + 18 * (index // 2)
        out.append(line(left, top, left + 22, top, style))
        out.append(text(left + 28, top + 4, label, INK))
    return "\n".join([*out, "</svg>\n"])


def main(points: str, folder: str) -> None:
    """Draws all of them."""
    figures = read(points)
    odd = set(FIGURES) ^ set(figures)
    if odd:
        sys.exit(
            f"{points}: figures that are drawn and points do not agree: {', '.join(sorted(odd))}"
        )
    for name, lines in figures.items():
        path = Path(folder, f"{name}.svg")
        path.write_text(draw(FIGURES[name], lines), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
