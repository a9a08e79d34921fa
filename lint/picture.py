"""picture.py: writes docs/layers.svg, the picture of the table in layers.py."""

from pathlib import Path

import layers
from source import Violation

PICTURE = Path("docs/layers.svg")
COLOURS = ["#e8eef7", "#f6dfe3", "#dcead9", "#dcead9", "#fdf1d3", "#fbe3d6", "#ece3f4", "#e9e9e9"]
NAMES = {"cli": "command (src/cli)", "capi": "C API (src/capi)", "shim": "drop-ins (src/shim)"}
WIDTH, HEIGHT, GAP, MARGIN = 720, 44, 14, 20


def drawing() -> str:
    """One row a layer; a folder includes those of the rows under its own."""
    rows = [[NAMES[top] for top in layers.TOP], *layers.ROWS]
    height = 2 * MARGIN + len(rows) * (HEIGHT + GAP) - GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
        ' font-family="sans-serif" font-size="16">',
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for row, (folders, colour) in enumerate(zip(rows, COLOURS, strict=True)):
        width = (WIDTH - 2 * MARGIN - (len(folders) - 1) * GAP) / len(folders)
        y = MARGIN + row * (HEIGHT + GAP)
        for column, folder in enumerate(folders):
            x = MARGIN + column * (width + GAP)
            lines += [
                f'<rect x="{x:g}" y="{y}" width="{width:g}" height="{HEIGHT}" rx="8" fill="{colour}" stroke="#555"/>',
                f'<text x="{x + width / 2:g}" y="{y + 27}" text-anchor="middle" fill="#222">{folder}</text>',
            ]
    return "\n".join([*lines, "</svg>", ""])


def check_picture(root: Path) -> list[Violation]:
    shown = {folder for row in layers.ROWS for folder in row}
    there = {path.name for path in (root / layers.LIBRARY).iterdir() if path.is_dir()}
    violations = [Violation(str(PICTURE), 1, f"does not show {layers.LIBRARY}/{name}") for name in there - shown]
    violations += [Violation(str(PICTURE), 1, f"shows {layers.LIBRARY}/{name}, which is not there") for name in shown - there]
    if (root / PICTURE).read_text() != drawing():
        violations.append(Violation(str(PICTURE), 1, "is not the picture of lint/layers.py: run python3 lint/picture.py"))
    return violations


if __name__ == "__main__":
    PICTURE.write_text(drawing())
