"""numpy_test.py MPIEXEC RANKS IO_COPY: has io_copy copy files of NumPy's and compares the copies.

A copy must be, byte for byte, what np.save makes of the array in this machine's byte order.
"""
import io
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("NumPy is missing")
    sys.exit(77)  # skipped

TYPES = "i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16".split()
SHAPES = [(0, 0), (0, 5), (5, 0), (1, 1), (1, 9), (9, 1), (2, 3), (40, 31)]


def array(code, byte_order, shape, order):
    """An array with all bits in use, without NaNs."""
    numbers = np.random.default_rng(1).integers(0, 2**63, size=shape, dtype=np.uint64)
    values = numbers.astype(code) if code[0] in "iu" else np.tan(numbers.astype("f8")).astype(code)
    if code[0] == "c":
        values = values + 1j * values.conj()[::-1]
    return np.array(values, dtype=byte_order + code, order=order)


def saved(values, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, values, version=version)
    return file.getvalue()


def native(values):
    return values.astype(values.dtype.newbyteorder("="), order="K")


def npy_cases():
    """Pairs of a file and of the copy that is expected."""
    for code in TYPES:
        for byte_order in "<>":
            for shape in SHAPES:
                for order in "CF":
                    values = array(code, byte_order, shape, order)
                    yield saved(values), saved(native(values))
    for version in [(1, 0), (2, 0), (3, 0)]:
        values = array("f8", "<", (6, 7), "F")
        yield saved(values, version), saved(values)


def matrix_market_cases():
    values = array("f8", "<", (13, 7), "F")
    numbers = "\n".join(repr(float(value)) for value in values.flatten("F"))
    yield f"%%MatrixMarket matrix array real general\n13 7\n{numbers}\n".encode(), saved(values)

    integers = array("i8", "<", (13, 7), "F") // 16
    entries = "\n".join(f"{i + 1} {j + 1} {integers[i, j]}" for i in range(13) for j in range(7))
    yield f"%%MatrixMarket matrix coordinate integer general\n13 7 91\n{entries}\n".encode(), saved(integers)

    square = np.asfortranarray(array("c16", "<", (11, 11), "F"))
    hermitian = np.asfortranarray(np.tril(square, -1) + np.tril(square, -1).conj().T + np.diag(square.diagonal().real))
    lower = "\n".join(
        f"{hermitian[i, j].real!r} {hermitian[i, j].imag!r}" for j in range(11) for i in range(j, 11))
    yield f"%%MatrixMarket matrix array complex hermitian\n11 11\n{lower}\n".encode(), saved(hermitian)


def main(mpiexec, ranks, program):
    cases = list(npy_cases()) + list(matrix_market_cases())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for i, (content, _) in enumerate(cases):
            (folder / f"{i}.in").write_bytes(content)
        listing = folder / "list"
        listing.write_text("".join(f"{folder / f'{i}.in'} {folder / f'{i}.npy'}\n" for i in range(len(cases))))
        subprocess.run([mpiexec, ranks, program, str(listing)], check=True)
        for i, (content, expected) in enumerate(cases):
            path = folder / f"{i}.npy"
            found = path.read_bytes()
            if found != expected:
                np.testing.assert_array_equal(np.load(path), np.load(io.BytesIO(expected)), err_msg=repr(content[:100]))
                sys.exit(f"not what NumPy writes: {found[:128]!r}\nexpected: {expected[:128]!r}")
    print(f"{len(cases)} files are as NumPy writes them")


main(*sys.argv[1:])
