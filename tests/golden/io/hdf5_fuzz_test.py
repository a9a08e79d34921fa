"""hdf5_fuzz_test.py IO_HDF5_FUZZ [COUNT [FIRST]]: HDF5 files of every structure that h5py writes are read, and
COUNT of them with a few bytes damaged read or refused, but never followed into memory that is not theirs.

That shows under the address sanitizer, or where the program dies.
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

DEFLATED = {"chunks": (8, 4), "compression": "gzip"}
STORAGE = {
    "contiguous": {},
    "chunks": {"chunks": (7, 4)},
    "one_chunk": {"chunks": (20, 9)},
    "deflated": DEFLATED,
    "shuffled": DEFLATED | {"shuffle": True, "fletcher32": True},
    "checked": {"chunks": (8, 4), "fletcher32": True},
    "growing": {"chunks": (3, 9), "maxshape": (None, 9), "compression": "gzip"},
    "growing_both": {"chunks": (3, 3), "maxshape": (None, None)},
    "unwritten": {"chunks": (8, 4), "fillvalue": 2},
    "scaled": {"chunks": (8, 4), "scaleoffset": 0},
}
if h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
    STORAGE["szip"] = {"chunks": (8, 8), "compression": "szip"}
PAIRS = np.dtype([("re", ">f4"), ("im", ">f4")])


def add_low_level(file, name, values, layout=None, n_bit=False):
    """What h5py's own functions do not write: elements in the header of the data set, and the n-bit filter."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    kind = h5py.h5t.py_create(values.dtype, logical=True)
    if n_bit:
        kind.set_precision(12)
        properties.set_chunk((8, 4))
        properties.set_filter(h5py.h5z.FILTER_NBIT, h5py.h5z.FLAG_OPTIONAL)
    else:
        properties.set_layout(layout)
    space = h5py.h5s.create_simple(values.shape)
    h5py.h5d.create(file.id, name, kind, space, properties).write(h5py.h5s.ALL, h5py.h5s.ALL, values)


def write_all(folder):
    """The files, each with its matrix in /m; half of them have no other one."""
    values = np.arange(20 * 9).reshape(20, 9)
    files = []

    def new(name, **options):
        files.append(folder / f"{name}.h5")
        return h5py.File(files[-1], "w", **options)

    for version in ("earliest", "v108", "latest"):
        for storage, options in STORAGE.items():
            if version == "latest" and storage in ("scaled", "szip"):
                continue  # refused
            for code in ("i4",) if storage in ("scaled", "szip", "unwritten") else ("i4", ">f8", "c8"):
                with new(f"{version}-{storage}-{code[-2:]}", libver=(version, "latest")) as file:
                    if storage == "unwritten":
                        file.create_dataset("m", (20, 9), code, **options)[3:5, 4] = 7
                    else:
                        file.create_dataset("m", data=values.astype(code), **options)
        if version != "latest":
            with new(f"{version}-scaled-fully", libver=(version, "latest")) as file:  # bytes of all their bits
                file.create_dataset("m", data=np.array([[0, 255], [7, 8]], "u1"), chunks=(2, 2), scaleoffset=0)
        with new(f"{version}-groups", libver=(version, "latest"), userblock_size=512) as file:
            file["a/b/m"] = values
            file["m"] = h5py.SoftLink("a/b/m")
            file["group/strings"] = np.array(["x", "yz"], dtype="S2")
            file["group/names"] = np.array([[True, False]])
            file["group/text"] = "text"
            file.create_dataset("group/cube", (2, 3, 4), [("x", "f4", (3,)), ("text", h5py.string_dtype())])
            file.attrs["of"] = "root"
        with new(f"{version}-types", libver=(version, "latest"), track_order=True) as file:
            file["pair"] = PAIRS
            file.create_dataset("m", data=np.ones((20, 9), PAIRS), dtype=file["pair"])
            file["m"].attrs["unit"] = np.arange(30)
        with new(f"{version}-many", libver=(version, "latest")) as file:
            for i in range(40):
                file[f"vector{i}"] = np.arange(3)
            file["m"] = values
        with new(f"{version}-compact", libver=(version, "latest")) as file:
            add_low_level(file, b"m", values, h5py.h5d.COMPACT)
        if version != "latest":
            with new(f"{version}-n-bit", libver=(version, "latest")) as file:
                add_low_level(file, b"m", values, n_bit=True)
        with new(f"{version}-links", libver=(version, "latest")) as file:
            (file.create_group("a")).attrs["x"] = 1
            file["a/m"] = values.astype("f4")
            file["m"] = file["a/m"]
    with new("external") as file:
        file.create_dataset("m", data=values, external=[(str(folder / "external.bin"), 0, h5py.h5f.UNLIMITED)])
    return files


def main(program, count="500", first="0"):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = [str(file) for file in write_all(folder)]
        result = subprocess.run([program, first, count, str(folder / "damaged.h5"), *files], check=False)
        if result.returncode != 0:
            kept = pathlib.Path(tempfile.gettempdir()) / "damaged.h5"
            if (folder / "damaged.h5").exists():
                kept.write_bytes((folder / "damaged.h5").read_bytes())
            print(f"ended with {result.returncode}; the last input is {kept}")
        return 1 if result.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
