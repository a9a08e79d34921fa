"""h5py_test.py MPIEXEC RANKS IO_COPY: has io_copy copy HDF5 files of h5py's, as .npy and as HDF5, and compares.

Every type in both byte orders, contiguous, in chunks, compressed, behind a block of the user's, named and not.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError:
    print("NumPy or h5py is missing")
    sys.exit(77)  # skipped

TYPES = "i1 i2 i4 i8 u1 u2 u4 u8 f4 f8 c8 c16".split()
SHAPES = [(0, 0), (0, 5), (5, 0), (1, 1), (1, 9), (9, 1), (2, 3), (40, 31)]
STORAGE = [{}, {"chunks": (7, 4)}, {"chunks": (16, 31), "compression": "gzip", "shuffle": True}]


def array(code, byte_order, shape):
    """An array with all bits in use, without NaNs."""
    numbers = np.random.default_rng(1).integers(0, 2**63, size=shape, dtype=np.uint64)
    values = numbers.astype(code) if code[0] in "iu" else np.tan(numbers.astype("f8")).astype(code)
    if code[0] == "c":
        values = values + 1j * values.conj()[::-1]
    return np.array(values, dtype=byte_order + code)


def write_all(folder):
    """Writes the files; returns what can be read as (name for plait, array)."""
    cases = []
    for code in TYPES:
        for byte_order in "<>":
            for shape in SHAPES if code in ("f8", "c8") else SHAPES[-1:]:
                values = array(code, byte_order, shape)
                storage = STORAGE if shape == (40, 31) else [{}]
                name = folder / f"{len(cases)}.h5"
                with h5py.File(name, "w", userblock_size=1024 if len(cases) % 3 == 0 else 0) as file:
                    for i, options in enumerate(storage):
                        file.create_dataset(f"group/m{i}", data=values, **options)
                        path = f":/group/m{i}" if len(storage) > 1 else ""
                        cases.append((f"{name}{path}", values))
    other = folder / "any_name"
    with h5py.File(other, "w") as file:  # a single matrix among other things, and a complex one with other names
        file["vector"] = np.arange(5.0)
        file["strings"] = np.array([["a", "b"]], dtype="S1")
        file["cube"] = np.zeros((2, 2, 2))
        pairs = np.zeros((4, 3), dtype=[("real", ">f4"), ("imag", ">f4")])
        pairs["real"], pairs["imag"] = np.arange(12).reshape(4, 3), -1
        file["a/b/pairs"] = pairs
    cases.append((other, (pairs["real"] + 1j * pairs["imag"]).astype("c8")))
    unwritten = folder / "UNWRITTEN.HDF5"
    with h5py.File(unwritten, "w") as file:
        file.create_dataset("m", (30, 20), "f8", chunks=(8, 8), fillvalue=2.5)[3:5, 4] = 7
        cases.append((f"{unwritten}:m", file["m"][...]))
    return cases


def main(mpiexec, ranks, program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = write_all(folder)
        lines = []
        for i, (source, _) in enumerate(cases):
            lines.append(f"{source} {folder}/{i}.{'npy' if i % 2 else 'out.h5:/x/y/copy'}\n")
        listing = folder / "list"
        listing.write_text("".join(lines))
        subprocess.run([mpiexec, ranks, program, str(listing)], check=True)
        for i, (source, expected) in enumerate(cases):
            native = expected.astype(expected.dtype.newbyteorder("="))
            if i % 2:
                copy = np.load(folder / f"{i}.npy")
            else:
                with h5py.File(folder / f"{i}.out.h5", "r") as file:
                    assert list(file) == ["x"] and list(file["x/y"]) == ["copy"], list(file)
                    copy = file["x/y/copy"][...]
            assert copy.dtype == native.dtype, (source, copy.dtype, native.dtype)
            np.testing.assert_array_equal(copy, native, err_msg=str(source))
    print(f"{len(cases)} matrices are copied as h5py has them")


main(*sys.argv[1:])
