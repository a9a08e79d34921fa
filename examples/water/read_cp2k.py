#!/usr/bin/env python3
"""read_cp2k.py OUTPUT FOLDER: makes Matrix Market files and energies.json of what cp2k printed.

Of AO_MATRICES with OVERLAP, KOHN_SHAM_MATRIX and DENSITY, and of MO with EIGENVALUES and OCCUPATION_NUMBERS. The last
matrix of each kind counts. Every number is kept as it was printed.
"""

import json
import re
import sys
from pathlib import Path

TITLES = {"OVERLAP MATRIX": "overlap", "KOHN-SHAM MATRIX": "hamiltonian", "DENSITY MATRIX": "density"}
WHAT = {
    "overlap": "Overlap of the basis functions",
    "hamiltonian": "Kohn-Sham matrix, in hartree",
    "density": "Density matrix: 2 for every occupied orbital, so that tr(D S) is the number of electrons",
}


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


def write(path: Path, what: str, elements: dict[tuple[int, int], str]) -> None:
    size = max(row for row, _ in elements)
    assert len(elements) == size * size, f"{path}: {len(elements)} elements of {size} x {size}"
    asymmetric = max(abs(float(elements[i, j]) - float(elements[j, i])) for i, j in elements)
    assert asymmetric < 1e-12, f"{path}: not symmetric by {asymmetric}"
    lower = [f"{elements[i, j]}\n" for j in range(1, size + 1) for i in range(j, size + 1)]
    header = f"%%MatrixMarket matrix array real symmetric\n% {what}. Made by cp2k: see README.md\n{size} {size}\n"
    path.write_text(header + "".join(lower))


def main(output: str, folder: str) -> None:
    text = Path(output).read_text()
    for name, elements in matrices(text.splitlines()).items():
        write(Path(folder) / f"{name}.mtx", WHAT[name], elements)
    (Path(folder) / "energies.json").write_text(json.dumps(energies(text), indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
