#!/usr/bin/env python3
"""read_cp2k.py OUTPUT FOLDER: makes .npy files and energies.json of what cp2k printed.

Of AO_MATRICES with OVERLAP, KOHN_SHAM_MATRIX and DENSITY, and of MO with EIGENVALUES and OCCUPATION_NUMBERS. The last
matrix of each kind counts.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np

TITLES = {"OVERLAP MATRIX": "overlap", "KOHN-SHAM MATRIX": "hamiltonian", "DENSITY MATRIX": "density"}


def matrices(lines: list[str]) -> dict[str, dict[tuple[int, int], str]]:
    """The elements of each matrix by (row, column), from 1. Two columns or so are printed at a time."""
    found: dict[str, dict[tuple[int, int], str]] = {}
    current, columns = None, []
    for line in lines:
        words = line.split()
        if line.strip() in TITLES:
            current, columns = found.setdefault(TITLES[line.strip()], {}), []
            current.clear()
        elif current is None or not words:
            continue
        elif all(re.fullmatch(r"\d+", word) for word in words):
            columns = [int(word) for word in words]
        elif re.fullmatch(r"\d+", words[0]) and columns:
            row = int(words[0])
            for column, number in zip(columns, words[4:], strict=True):  # row, atom, element, orbital
                current[row, column] = number
        else:
            current = None
    return found


def energies(text: str) -> dict:
    levels = re.findall(r"^ MO\| +\d+ +(\S+) +\S+ +(\S+)$", text, re.MULTILINE)
    values = [float(value) for value, _ in levels]
    occupations = [float(occupation) for _, occupation in levels]
    return {
        "electrons": round(sum(occupations)),
        "band_energy": sum(e * n for e, n in zip(values, occupations, strict=True)),
        "gap": float(re.findall(r"^ MO\| Band gap: +(\S+) a.u.", text, re.MULTILINE)[-1]),
        "total_energy": float(re.findall(r"^  Total energy: +(\S+)", text, re.MULTILINE)[-1]),
        "eigenvalues": values,
    }


def write(path: Path, elements: dict[tuple[int, int], str]) -> None:
    size = max(row for row, _ in elements)
    assert len(elements) == size * size, f"{path}: {len(elements)} elements of {size} x {size}"
    matrix = np.array([[float(elements[i, j]) for j in range(1, size + 1)] for i in range(1, size + 1)])
    assert np.abs(matrix - matrix.T).max() < 1e-12, f"{path}: not symmetric"
    np.save(path, np.tril(matrix) + np.tril(matrix, -1).T)


def main(output: str, folder: str) -> None:
    text = Path(output).read_text()
    for name, elements in matrices(text.splitlines()).items():
        write(Path(folder) / f"{name}.npy", elements)
    (Path(folder) / "energies.json").write_text(json.dumps(energies(text), indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
