#!/usr/bin/env python3
"""check.py [FOLDER]: whether H x = e S x has the energies that cp2k found, and its orbitals give cp2k's density.

Needs NumPy alone: with S = L Lᵀ the problem is that of L⁻¹ H L⁻ᵀ.
"""

import json
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("NumPy is missing")
    sys.exit(77)  # skipped


def main(folder: Path) -> None:
    known = json.loads((folder / "energies.json").read_text())
    h, s, d = (np.load(folder / f"{name}.npy") for name in ("hamiltonian", "overlap", "density"))
    inverse = np.linalg.inv(np.linalg.cholesky(s))
    levels, orbitals = np.linalg.eigh(inverse @ h @ inverse.T)
    pairs = known["electrons"] // 2
    occupied = (inverse.T @ orbitals)[:, :pairs]
    found = {
        "eigenvalues": np.abs(levels - known["eigenvalues"]).max(),
        "gap": abs(levels[pairs] - levels[pairs - 1] - known["gap"]),
        "band energy, tr(D H)": abs(np.sum(d * h) - known["band_energy"]),
        "electrons, tr(D S)": abs(np.sum(d * s) - known["electrons"]),
        "density, 2 C Cᵀ": np.abs(2 * occupied @ occupied.T - d).max(),
        "idempotency, D S D / 2": np.abs(d @ s @ d / 2 - d).max(),
    }
    for what, difference in found.items():
        print(f"{what}: differs by {difference:.1e}")
    # The energies are of the step before the matrices; cp2k stops when those differ by 1e-8.
    assert max(found.values()) < 1e-6, "not what cp2k found"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
