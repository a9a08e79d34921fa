"""Runs the example `hubbard` and compares what it prints with the same loop by NumPy's eigenstates."""

import re
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("NumPy is missing")
    sys.exit(77)  # skipped

SITES, REPULSION = 60, 2.5


def mean_field() -> tuple[float, np.ndarray]:
    hopping = -np.roll(np.eye(SITES), 1, axis=0)
    alone = hopping + hopping.T + np.diag(0.3 * np.sin(7 * np.arange(SITES)))
    even = np.arange(SITES) % 2 == 0
    electrons = [np.where(even, 0.9, 0.1), np.where(even, 0.1, 0.9)]
    for _ in range(1000):
        found, energy = [], -REPULSION * electrons[0] @ electrons[1]
        for others in reversed(electrons):
            values, states = np.linalg.eigh(alone + REPULSION * np.diag(others))
            energy += values[: SITES // 2].sum()
            found.append((states[:, : SITES // 2] ** 2).sum(axis=1))
        if max(abs(a - b).max() for a, b in zip(found, electrons)) < 1e-11:
            return energy, found[0]
        electrons = [(a + b) / 2 for a, b in zip(found, electrons)]
    sys.exit("NumPy's loop does not converge")


printed = subprocess.run(sys.argv[1:], check=True, capture_output=True, text=True).stdout
energy, electrons = mean_field()
print(printed, f"NumPy: energy {energy:.12f}, electrons {electrons[:3]}")
assert abs(float(re.findall(r"energy (\S+),", printed)[-1]) - energy) < 1e-8
np.testing.assert_allclose([float(n) for n in re.search(r"sites (\S+) (\S+) (\S+);", printed).groups()], electrons[:3], atol=1e-8)
