#!/usr/bin/env python3
"""Clones an ellipse of one photograph into another one without a seam: `plait poisson --mask`.

    ../colour_transfer/fetch.sh; ./run.py PLAIT TARGET.png SOURCE.png OUT.png [ROW COLUMN [HEIGHT WIDTH]]

The ellipse is the middle of the source; ROW and COLUMN are where its middle comes to, HEIGHT and WIDTH are its axes.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "colour_transfer"))
from png import read_png, write_png  # noqa: E402


def minus_laplacian(g: np.ndarray) -> np.ndarray:
    """Of the differences to those of the four neighbours that there are."""
    result = np.zeros_like(g)
    for axis in (0, 1):
        step = np.moveaxis(np.diff(g, axis=axis), axis, 0)
        of_axis = np.moveaxis(result, axis, 0)
        of_axis[:-1] -= step
        of_axis[1:] += step
    return result


def clone(plait: list[str], target: np.ndarray, source: np.ndarray, inside: np.ndarray, page: str = "") -> np.ndarray:
    """The target with the gradients of the source inside; both are height x width x colours, one upon the other."""
    result = target.copy()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "outside.npy", ~inside)
        for colour in range(target.shape[2]):
            np.save(folder / "f.npy", minus_laplacian(source[:, :, colour]))
            np.save(folder / "target.npy", target[:, :, colour])
            words = ["poisson", "f.npy", "--mask", "outside.npy", "--outside", "value", "--start", "target.npy"]
            words += ["--boundary", "flux", "-o", "u.npy", "--quiet"]
            words += ["--report", str(Path(page).resolve())] if page and colour == 0 else []
            subprocess.run([*plait, *words], cwd=folder, check=True)
            result[:, :, colour] = np.load(folder / "u.npy")
    return result


def main() -> None:
    if len(sys.argv) not in (5, 7, 9):
        raise SystemExit(__doc__)
    plait, first, second, out = sys.argv[1:5]
    target, picture = read_png(Path(first)), read_png(Path(second))
    size, middle = np.array(target.shape[:2]), np.array(picture.shape[:2]) // 2
    numbers = [int(text) for text in sys.argv[5:]]
    to = np.array(numbers[:2]) if numbers else size // 2
    axes = np.array(numbers[2:4]) if len(numbers) == 4 else np.minimum(size, picture.shape[:2]) * 2 // 3
    place = np.indices(size).transpose(1, 2, 0) - to
    source = picture[tuple(np.clip(place + middle, 0, np.array(picture.shape[:2]) - 1).transpose(2, 0, 1))]
    inside = ((place / (axes / 2)) ** 2).sum(axis=2) < 1
    cloned = clone([plait], target, source, inside, str(Path(out).with_suffix(".html")))
    pasted = np.where(inside[:, :, None], source, target)
    write_png(Path(out), np.hstack([pasted, cloned]))


if __name__ == "__main__":
    main()
