"""check.py PLAIT...: clones pictures that it makes, and looks at the result: PLAIT is a command line, under mpirun say."""

import sys

try:
    import numpy as np
except ImportError:
    print("NumPy is missing")
    sys.exit(77)  # skipped

from run import clone, minus_laplacian


def main(plait: list[str]) -> None:
    random = np.random.default_rng(5)
    rows, columns = np.indices((90, 120))
    target = 0.5 + 0.3 * np.stack([np.sin(rows / (20 + c) + columns / 31) for c in range(3)], axis=2)
    source = np.stack([0.2 * c + 0.1 * np.cos(rows * columns / 150) for c in range(3)], axis=2) + 0.05 * random.random((90, 120, 3))
    inside = ((rows - 40) / 30) ** 2 + ((columns - 70) / 45) ** 2 < 1
    inside &= ~((abs(rows - 40) < 5) & (abs(columns - 60) < 9))  # and a hole
    u = clone(plait, target, source, inside)
    assert np.array_equal(u[~inside], target[~inside]), "outside it is the target"
    for colour in range(3):
        left = (minus_laplacian(u[:, :, colour]) - minus_laplacian(source[:, :, colour]))[inside]
        assert np.abs(left).max() < 1e-6, "inside it has the gradients of the source"
    brighter = clone(plait, target[:, :, :1], target[:, :, :1] + 0.25, inside)
    assert np.abs(brighter - target[:, :, :1]).max() < 1e-6, "a picture of other brightness is the target again"
    seam = np.diff(inside, axis=1)[:, :, None]
    jump = np.abs(np.diff(u, axis=1) - np.diff(source, axis=1))[np.repeat(seam, 3, axis=2)].mean()
    pasted = np.where(inside[:, :, None], source, target)
    rough = np.abs(np.diff(pasted, axis=1) - np.diff(source, axis=1))[np.repeat(seam, 3, axis=2)].mean()
    print(f"steps across the seam are off by {jump:.3f}, {rough:.3f} where the source is pasted")
    assert jump < rough / 3, "no seam shows"


if __name__ == "__main__":
    main(sys.argv[1:])
