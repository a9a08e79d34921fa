"""verify_transpose.py B.npy A.npy: says whether A is the transpose of B, element by element."""

import sys

import numpy as np

ROWS_AT_A_TIME = 500  # keeps the memory small: the files are mapped


def main() -> int:
    b = np.load(sys.argv[1], mmap_mode="r")
    a = np.load(sys.argv[2], mmap_mode="r")
    if a.shape != b.shape[::-1] or a.dtype != b.dtype:
        print(f"wrong: B is {b.shape} of {b.dtype}, A is {a.shape} of {a.dtype}")
        return 1
    for row in range(0, a.shape[0], ROWS_AT_A_TIME):
        rows = slice(row, row + ROWS_AT_A_TIME)
        if not np.array_equal(a[rows], b[:, rows].T):
            print(f"wrong: A differs from the transpose of B in rows {row} to {row + ROWS_AT_A_TIME}")
            return 1
    print(f"NumPy agrees: all {a.size} elements of A are those of the transpose of B")
    return 0


if __name__ == "__main__":
    sys.exit(main())
