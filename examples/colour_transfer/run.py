#!/usr/bin/env python3
"""Gives a photograph the colours of another one: `plait transport --points` between their pixels.

Pixels are points in red, green and blue. All of the first picture (X) are transported to some of the second one (Y), at
random, and each goes where its mass goes on the average (--map). The costs, pixels x samples, are never stored.

    ./fetch.sh; ./run.py PLAIT photographs/coffee.png photographs/chelsea.png out.png [SAMPLES [STEP]]

out.png has the two pictures and what became of the first one, side by side; STEP 2 takes every second pixel.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from png import read_png, write_png


def main() -> None:
    if len(sys.argv) < 5:
        raise SystemExit(__doc__)
    plait, first, second, out = sys.argv[1:5]
    samples, step = (int(sys.argv[i]) if len(sys.argv) > i else usual for i, usual in ((5, 1000), (6, 3)))
    x, y = (read_png(Path(path))[::step, ::step] for path in (first, second))
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "X.npy", x.reshape(-1, 3))
        np.save(folder / "Y.npy", random.permutation(y.reshape(-1, 3))[:samples])
        words = ["transport", "--points", "X.npy", "Y.npy", "--epsilon", "0.003", "--tolerance", "1e-3", "--map", "map.npy"]
        subprocess.run([plait, *words], cwd=folder, check=True)
        moved = np.load(folder / "map.npy").reshape(x.shape)
    height = max(len(x), len(y))
    beside = [np.vstack([part, np.ones((height - len(part), part.shape[1], 3))]) for part in (x, y, moved)]
    write_png(Path(out), np.hstack(beside))


if __name__ == "__main__":
    main()
