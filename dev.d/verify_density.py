"""verify_density.py H.npy D.npy ELECTRONS: says whether D projects onto the lowest eigenvectors of H, two electrons each."""

import sys

import numpy as np

TOLERANCE = 1e-9  # of each element; eigenvectors of far more states are good to 1e-12


def main() -> int:
    hamiltonian, density = np.load(sys.argv[1]), np.load(sys.argv[2])
    occupied = int(sys.argv[3]) // 2
    energies, states = np.linalg.eigh(hamiltonian)
    lowest = states[:, :occupied]
    expected = lowest @ lowest.conj().T
    if density.shape != expected.shape:
        print(f"wrong: D is {density.shape}, H is {hamiltonian.shape}")
        return 1
    error = np.abs(density - expected).max()
    if not error <= TOLERANCE:
        print(f"wrong: elements of D differ by up to {error:.1e} from those of the {occupied} lowest eigenvectors")
        return 1
    print(
        f"NumPy agrees: all {density.size} elements of D are those of the {occupied} lowest eigenvectors, within"
        f" {error:.1e}; their energy is {2 * energies[:occupied].sum():.10g}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
