"""Every error that a user can make or meet: its exit status, its words, printed once, and nothing left behind."""

import contextlib
import json
import shutil
import subprocess
from dataclasses import dataclass

import numpy as np
from harness import CommandTest, Result, alike_with_every_mpi

FAILED, USAGE = 1, 2
TO_A = ("-o", "A.npy")
MOVE_B = ("redistribute", "B.npy")
BIG = ("generate", "2500x2000", *TO_A)
LIMIT = "ulimit -f 65536"  # of 512 bytes; less would stop MPI from sharing memory


@dataclass
class Row:
    name: str
    arguments: tuple[str, ...]
    status: int
    message: str  # a regular expression for stderr
    on_rank: int = 0
    before: str = ""  # what the shell does first on that rank: the error is met there only


ROWS = [
    Row("no command", (), USAGE, "error: no command is given, expected redistribute"),
    Row("unknown command", ("transpose", "B.npy"), USAGE, "error: there is no command transpose"),
    Row("other arguments on rank 0", (*MOVE_B, *TO_A), USAGE, "started with different arguments", 0,
        "set -- generate 9x9 -o A.npy"),
    Row("other arguments on rank 1", (*MOVE_B, *TO_A), USAGE, "started with different arguments", 1, "set -- info"),
    Row("misuse on rank 1 only", (*MOVE_B, *TO_A), USAGE, "started with different arguments", 1, "set -- transpose"),
    Row("unknown option", (*MOVE_B, *TO_A, "--form", "rows@1"), USAGE, "no option --form; did you mean --from"),
    Row("an option for a file", ("redistribute", "B.npy", "--per-rank", "-o", "pieces"), USAGE, "--per-rank: is -o, expected a name; .* written ./-o"),
    Row("no output", MOVE_B, USAGE, r"none of -o FILE, --per-rank DIR is given, expected plait redistribute IN \(-o FILE \| --per-rank DIR\)"),
    Row("nothing to generate into", ("generate", "8x8"), USAGE, r"error: -o FILE is missing, expected plait generate SHAPE -o FILE \[OPTIONS\]; see plait generate --help"),
    Row("output of another kind", ("generate", "8x8", "-o", "g.mtx"), USAGE, "--output: g.mtx would be a file of another kind"),
    Row("output of LIBSVM's kind", (*MOVE_B, "-o", "x.svm"), USAGE, "--output: x.svm would be a file of another kind"),
    Row("the same by its longer name", ("kmeans", "B.npy", "-k", "2", "-o", "l.libsvm"), USAGE, "--output: l.libsvm would be a file of another"),
    Row("output of that kind in capitals", (*MOVE_B, "-o", "x.MTX"), USAGE, "--output: x.MTX would be a file of another kind"),
    Row("output that another option writes", ("partition", "g.graph", "-k", "2", "-o", "x.vtu"), USAGE,
        "x.vtu would be a file of another kind, expected a name that ends in .npy or .txt; --vtu writes such a file"),
    Row("a stream for a file", ("redistribute", "-", *TO_A), USAGE, "IN: is -, expected a name; .* written ./-"),
    Row("two dashes", ("redistribute", "--", "B.npy", *TO_A), USAGE, "error: -- is not needed: a file whose name begins with -"),
    Row("relabel alone", (*MOVE_B, *TO_A, "--relabel"), USAGE, "--relabel is given, but --to is missing"),
    Row("two outputs", (*MOVE_B, *TO_A, "--per-rank", "D"), USAGE, "-o and --per-rank are both given"),
    Row("bad op", (*MOVE_B, *TO_A, "--op", "t"), USAGE, "--op: 't' is unknown; expected identity, "),
    Row("bad alpha", (*MOVE_B, *TO_A, "--alpha", "one"), USAGE, "--alpha: 'one' is no number; expected"),
    Row("alpha is complex", (*MOVE_B, *TO_A, "--alpha", "1+2i"), FAILED, r"--alpha: 1\+2i is complex.* f64"),
    Row("alpha is a fraction", ("redistribute", "i32.npy", *TO_A, "--alpha", "0.5"), FAILED, "--alpha: 0.5 is no i32"),
    Row("beta without A", (*MOVE_B, *TO_A, "--beta", "2"), USAGE, "--beta is 2, but --into is missing"),
    Row("A without beta", (*MOVE_B, *TO_A, "--into", "A.npy"), USAGE, "--into is given, but --beta is 0"),
    Row("bad shape", ("generate", "8by8", *TO_A), USAGE, "SHAPE: '8by8' is no shape"),
    Row("no points to transport to", ("transport", "--points", "B.npy", "empty.npy", "--epsilon", "1", *TO_A), FAILED,
        "--points: empty.npy is 0 x 8, expected points with coordinates"),
    Row("one file for two outputs", ("kmeans", "B.npy", "-k", "2", "-o", "l.npy", "--centres", "./l.npy"), USAGE,
        r"l.npy: is the file of -o and the file of --centres, expected different files"),
    Row("an output that is an input", ("poisson", "B.npy", "-o", "u.npy", "--boundary", "value:A.npy", "--report", "r.html",
        "--checkpoint", "A.npy"), USAGE, "A.npy: is the file of --boundary and the file of --checkpoint, expected different"),
    Row("a page that is the trace it is of", ("trace", "t.html", "--report", "t.html"), USAGE, "t.html: is IN and the file of --report"),
    Row("a plot of the layout", ("plan", "--shape", "9x9", "--from", "custom:l.svg", "--to", "rows@2", "--plot", "l.svg"), USAGE,
        "l.svg: is the file of --from and the file of --plot"),
    Row("bad memory", (*MOVE_B, *TO_A, "--memory", "much"), USAGE, "--memory: 'much' is no number of bytes"),
    # Files that are read.
    Row("missing file", ("redistribute", "none.npy", *TO_A), FAILED, "error: none.npy: can't be opened: No such file"),
    Row("missing on rank 0", (*MOVE_B, *TO_A), FAILED, "error: B.npy: can't be opened", 0, "cd folder"),
    Row("missing on rank 1", (*MOVE_B, *TO_A), FAILED, "rank 1: B.npy: can't be opened", 1, "cd folder"),
    Row("a directory", ("redistribute", "folder", *TO_A), FAILED, "folder: is a directory"),
    Row("no matrix", ("redistribute", "text", *TO_A), FAILED, r'error: text: begins with "hello.*expected a NumPy .npy file'),
    Row("empty", ("redistribute", "empty", *TO_A), FAILED, "error: empty: is empty; expected a NumPy .npy file"),
    Row("no header", ("redistribute", "tiny.npy", *TO_A), FAILED, "error: tiny.npy: is truncated"),
    Row("truncated", ("redistribute", "short.npy", *TO_A), FAILED, "error: short.npy: is truncated: it has 888 bytes; expected 896"),
    Row("structured", ("redistribute", "structured.npy", *TO_A), FAILED, r"structured.npy: has the dtype .* \(a structure\); supported are i8,"),
    Row("objects", ("redistribute", "object.npy", *TO_A), FAILED, r"object.npy: has the dtype .* \(Python objects\); supported are i8,"),
    Row("half precision", ("redistribute", "f16.npy", *TO_A), FAILED, r"f16.npy: has the dtype .* \(half precision\); supported are i8,"),
    Row("1-D", ("redistribute", "vector.npy", *TO_A), FAILED, r"error: vector.npy: has 1 dimension; a matrix has 2"),
    Row("3-D", ("redistribute", "cube.npy", *TO_A), FAILED, r"cube.npy: has 3 dimensions; a matrix has 2"),
    Row("bad entry", ("redistribute", "bad.mtx", *TO_A), FAILED, "bad.mtx:4: "),
    Row("more than a symmetry", ("redistribute", "more.mtx", *TO_A), FAILED, 'error: more.mtx:1: "sparse" follows the symmetry'),
    Row("more than can be counted on rank 0", ("redistribute", "vast.mtx", *TO_A, "--to", "rows@1"), FAILED,
        "rank 0 would hold 9.00 EB of cols@2 .*, more than a processor can address; use more ranks\n"),
    Row("more than can be addressed on rank 0", ("redistribute", "large.mtx", *TO_A, "--to", "rows@1"), FAILED,
        "rank 0 would hold 180 PB of rows@1 .*, more than a processor can address; use more ranks\n"),
    Row("more than can be addressed", ("redistribute", "vast.mtx", *TO_A), FAILED,
        "rank 0 would hold 9.00 EB of cols@2 .*, more than a processor can address; use more ranks\n"),
    Row("more than can be addressed, of random numbers", ("generate", "1000000000x1000000000", *TO_A), FAILED,
        "rank 0 would hold 4.00 EB of .*, more than a processor can address; use more ranks\n"),
    Row("more columns than numbers fit in memory, to scale", ("sinkhorn", "wide.npy", *TO_A), FAILED,
        "error: wide.npy is 0 x 9223372036854775807, expected so few rows and columns"),
    Row("the same to transport", ("transport", "wide.npy", "--epsilon", "1", *TO_A), FAILED, "error: wide.npy is 0 x 9223372036854775807"),
    Row("the same to balance", ("balance", "wide.npy", *TO_A), FAILED, "error: wide.npy is 0 x 9223372036854775807"),
    Row("another file of that name on rank 1", (*MOVE_B, *TO_A), FAILED,
        r"rank 1: B.npy: is 24 x 8 of f64 by rows \(little-endian, from byte 128 on\), but another array on rank 0, 12 x 8 of f64 by rows \(.*\): do all nodes share its folder\?", 1, "cd other"),
    Row("more than all memory", ("redistribute", "huge.npy", *TO_A), FAILED, "needs .*TB on the node of rank 0"),
    # Layouts.
    Row("malformed layout", (*MOVE_B, *TO_A, "--to", "blocks@2y2"), USAGE, r"error: --to: .*\nblocks@2y2\n {8}\^\n"),
    Row("too many ranks", (*MOVE_B, *TO_A, "--from", "blocks@3x3"), FAILED, "--from: blocks@3x3 needs 9 ranks, there are 2"),
    Row("does not fit", (*MOVE_B, *TO_A, "--from", "rows@2,within=5x5"), FAILED, "--from: .*within=5x5 .*12 x 8"),
    Row("no custom file", (*MOVE_B, *TO_A, "--to", "custom:none.json"), FAILED, "error: --to: none.json: can't be opened"),
    Row("malformed custom", (*MOVE_B, *TO_A, "--to", "custom:text"), FAILED, "--to: text: parse error at line 1, column 1"),
    Row("custom, wrong shape", (*MOVE_B, *TO_A, "--to", "custom:9x9.json"), FAILED, "9x9.json: .*of 9 x 9, expected 12 x 8"),
    Row("custom, rank 5", (*MOVE_B, *TO_A, "--to", "custom:rank5.json"), FAILED, "--to: custom:rank5.json needs 6 ranks"),
    # A as it was.
    Row("no A", (*MOVE_B, *TO_A, "--beta", "2", "--into", "none.npy"), FAILED, "--into none.npy: can't be opened"),
    Row("labels below a name", ("fit", "B.npy", "--labels", "names.csv", "--model", "svm", "-o", "W.npy"), FAILED,
        "names.csv is 11 x 1 below a line without numbers, taken for names of columns, expected 12 x 1: a label for each row"),
    Row("A has no such shape", (*MOVE_B, *TO_A, "--beta", "2", "--into", "B.npy", "--op", "transpose"), FAILED,
        r"--into: B.npy is 12 x 8, expected 8 x 12, the shape of op\(B.npy\)"),
    Row("A has another type", (*MOVE_B, *TO_A, "--beta", "2", "--into", "i32.npy"), FAILED,
        "--into: i32.npy has elements of i32, expected f64"),
    # Files that are written.
    Row("no folder", (*MOVE_B, "-o", "none/A.npy"), FAILED, "error: none/A.npy: can't be written into the folder none: No such"),
    Row("output is a directory", (*MOVE_B, "-o", "folder"), FAILED, "error: folder: is a directory"),
    Row("folder is a file", (*MOVE_B, "-o", "text/A.npy"), FAILED, "text/A.npy: can't be written"),
    Row("unwritable folder", (*MOVE_B, "-o", "/proc/A.npy"), FAILED, "/proc/A.npy: "),
    Row("file size limit on rank 0", BIG, FAILED, "error: A.npy: needs 40000128 bytes.*ulimit", 0, LIMIT),
    Row("file size limit on rank 1", BIG, FAILED, "rank 1: A.npy: needs 40000128 bytes.*ulimit", 1, LIMIT),
    Row("generated into no folder", ("generate", "8x8", "-o", "none/A.npy"), FAILED, "none/A.npy: can't be written"),
    Row("name too long", (*MOVE_B, "-o", 252 * "a" + ".npy"), FAILED, "aaa.npy: can't be .*: File name too long"),
    Row("DIR below a device", (*MOVE_B, "--per-rank", "/dev/null/x"), FAILED, "error: /dev/null/x: can't be made a folder: Not a"),
    Row("DIR in /proc", (*MOVE_B, "--per-rank", "/proc/x/y"), FAILED, "/proc/x/y: can't be made a folder: "),
    Row("DIR is a link to nothing", (*MOVE_B, "--per-rank", "dangling"), FAILED, "dangling: is a symbolic link to nothing"),
    Row("DIR is a loop", (*MOVE_B, "--per-rank", "loop"), FAILED, "loop: can't be made a folder: Too many levels"),
    Row("DIR's name is too long", (*MOVE_B, "--per-rank", "d/" + 256 * "a"), FAILED, "aaa: can't be .*: File name too long"),
    Row("IN is a part", ("redistribute", "parts/rank-0001.npy", "--per-rank", "parts"), FAILED,
        "parts: parts/rank-0001.npy would be replaced or removed, but it is IN; expected another folder"),
    Row("IN is an old part", ("redistribute", "old/rank-0007.npy", "--per-rank", "old/."), FAILED, "but it is IN"),
    Row("A is a part", (*MOVE_B, "--per-rank", "parts", "--beta", "2", "--into", "./parts/rank-0000.npy"), FAILED,
        "parts: parts/rank-0000.npy would .* but it is the file of --into"),
    Row("the layout is a part", (*MOVE_B, "--per-rank", "tiling", "--to", "custom:tiling/layout.json"), USAGE,
        "tiling/layout.json: is the file of --to and layout.json in the folder of --per-rank"),
    Row("DIR is a file", (*MOVE_B, "--per-rank", "text"), FAILED, "error: text: is no folder"),
    Row("a tile of rank 1", (*MOVE_B, "--per-rank", "blocked"), FAILED, "rank 1: blocked/rank-0001.npy: is a directory"),
    # Settings.
    Row("bad setting on rank 0", (*MOVE_B, *TO_A), FAILED, "rank 0: .*PLAIT_ISA", 0, "export PLAIT_ISA=mmx"),
    Row("bad setting on rank 1", (*MOVE_B, *TO_A), FAILED, "rank 1: .*PLAIT_ISA", 1, "export PLAIT_ISA=mmx"),
]  # fmt: skip


class Errors(CommandTest):
    def setUp(self):
        super().setUp()
        b = self.save("B.npy", np.arange(96.0).reshape(12, 8))
        self.save("A.npy", -b)
        self.save("i32.npy", b.astype("i4"))
        self.save("f16.npy", b.astype("f2"))
        self.save("structured.npy", np.zeros((3, 3), [("x", "f8"), ("y", "f8")]))
        np.save(self.folder / "object.npy", np.array([[{}]], dtype=object), allow_pickle=True)
        self.save("vector.npy", np.arange(96.0))
        self.save("cube.npy", b.reshape(2, 6, 8))
        self.save("big.npy", np.zeros((200, 100)))
        self.save("empty.npy", b[:0])
        whole = (self.folder / "B.npy").read_bytes()
        (self.folder / "short.npy").write_bytes(whole[:-8])
        (self.folder / "tiny.npy").write_bytes(whole[:9])
        (self.folder / "empty").touch()
        (self.folder / "text").write_text("hello, world\n")
        (self.folder / "names.csv").write_text("no\n" + 11 * "1\n")
        (self.folder / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 5\n4 1 5\n")
        for name, extent in (("vast.mtx", 1500000000), ("large.mtx", 150000000)):
            text = f"%%MatrixMarket matrix coordinate real general\n{extent} {extent} 1\n1 1 5\n"
            (self.folder / name).write_text(text)
        (self.folder / "more.mtx").write_text("%%MatrixMarket matrix array real general sparse\n1 1\n1\n")
        tiling = {"row_splits": [0, 9], "column_splits": [0, 9], "owners": [[0]]}
        (self.folder / "9x9.json").write_text(json.dumps(tiling))
        tiling = {"row_splits": [0, 12], "column_splits": [0, 8], "owners": [[5]]}
        (self.folder / "rank5.json").write_text(json.dumps(tiling))
        (self.folder / "folder").mkdir()
        (self.folder / "other").mkdir()
        self.save("other/B.npy", np.arange(192.0).reshape(24, 8))
        (self.folder / "blocked/rank-0001.npy").mkdir(parents=True)
        for name in ("parts/rank-0000.npy", "parts/rank-0001.npy", "old/rank-0007.npy"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            self.save(name, b)
        (self.folder / "old/layout.json").write_text('{"files": [{"file": "rank-0007.npy"}]}')
        (self.folder / "tiling").mkdir()
        tiling = {"row_splits": [0, 12], "column_splits": [0, 8], "owners": [[1]]}
        (self.folder / "tiling/layout.json").write_text(json.dumps(tiling))
        (self.folder / "dangling").symlink_to("nothing")
        (self.folder / "loop").symlink_to("loop")
        with open(self.folder / "wide.npy", "wb") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (0, 2**63 - 1)})
        with open(self.folder / "huge.npy", "wb") as file:
            header = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
            np.lib.format.write_array_header_1_0(file, header)
            with contextlib.suppress(OSError):  # where files can't have holes, or not of that size
                file.truncate(file.tell() + 8 * 10**12)

    def run_row(self, row: Row) -> Result:
        if not row.before:
            # The command line is judged before there is any MPI, so that most of these need no launcher.
            alone = row.status == USAGE and row.name != "malformed layout"
            return self.run_plait(0 if alone else 2, *row.arguments)
        only = f'[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" != {row.on_rank} ] || {row.before}; exec "$0" "$@"'
        return self.run_words([self.mpiexec, "2", "/bin/sh", "-c", only, self.plait, *row.arguments])

    def expect_one_error(self, result: Result, status: int, message: str) -> None:
        self.assertRegex(result.stderr, message)
        self.assertEqual(len(result.errors), 1, result.stderr)
        self.assertEqual(result.status, status, result.stderr)
        self.assertEqual(result.stdout, "")

    @alike_with_every_mpi
    def test_errors_are_json_too_where_that_is_asked_for(self):
        for ranks, words, status in (
            (0, (), 2), (0, ("--nothing",), 2), (0, ("purfy",), 2), (0, ("sinkhorn", "K.npy", "--nothing"), 2),
            (0, ("purify",), 2), (2, ("generate", "8x8"), 2), (0, (*MOVE_B, *TO_A, "--op", "t"), 2),
            (0, ("purify", "none.npy", "--electrons", "2"), 1), (2, ("multiply", "none.npy", "none.npy", "-o", "C.npy"), 1),
            (0, ("trace", "none.json"), 1), (0, ("info", "--machine", "none.json"), 1), (0, ("machine", "-o", "none/m.json"), 1),
            (0, ("plan", "--shape", "4x4", "--from", "custom:none.json", "--to", "rows@2"), 1),
            (0, ("balance", "none.npy", "-o", "x.npy"), 1), (0, ("divergence", "none.npy", "--epsilon", "1"), 1),
        ):  # fmt: skip
            with self.subTest(words):
                result = self.run_plait(ranks, *words, "--json")
                told = json.loads(result.stdout)
                command = words[0] if words and not words[0].startswith("-") else None
                self.assertEqual((told["command"], told["exit_status"], result.status), (command, status, status))
                self.assertEqual(result.errors[0], f"plait: error: {told['error']}")

    @alike_with_every_mpi
    def test_arrays_in_archives_are_refused_with_what_to_do(self):
        np.savez(self.folder / "w.npz", B=np.ones((3, 3)), b=np.ones(3))
        for words, array in (
            (("redistribute", "w.npz:/B", *TO_A), "B"), (("sinkhorn", "B.npy", *TO_A, "--rows", "w.npz:/b"), "b"),
            (("sinkhorn", "B.npy", *TO_A, "--start", "w.npz:b"), "b"), (("redistribute", "w.npz", *TO_A), "A"),
        ):  # fmt: skip
            with self.subTest(words):
                result = self.run_plait(0, *words)
                self.expect_one_error(result, FAILED, rf'numpy.save\("A.npy", numpy.load\("w.npz"\)\["{array}"\]\)')
        self.expect_one_error(self.run_plait(0, "redistribute", "no.npz:/B", *TO_A), FAILED, "no.npz: can't be opened")

    def expect_every(self, rows: list[Row]) -> None:
        old = (self.folder / "A.npy").read_bytes()
        files = self.files()
        for row in rows:
            with self.subTest(row.name):
                if "huge.npy" in row.arguments and (self.folder / "huge.npy").stat().st_size < 10**12:
                    self.skipTest("a file of 8 TB can't be made here")
                self.expect_one_error(self.run_row(row), row.status, row.message)
                self.assertEqual((self.folder / "A.npy").read_bytes(), old)
                self.assertEqual(self.files(), files)

    def test_every_error_that_one_rank_meets(self):
        self.expect_every([row for row in ROWS if row.before])

    @alike_with_every_mpi
    def test_every_error_that_all_ranks_meet(self):
        self.expect_every([row for row in ROWS if not row.before])

    def test_errors_without_a_launcher(self):
        for row in [row for row in ROWS if row.name in {"missing file", "malformed layout", "no folder"}]:
            with self.subTest(row.name):
                self.expect_one_error(self.run_plait(0, *row.arguments), row.status, row.message)

    def test_a_full_disk(self):
        small = self.folder / "small"
        small.mkdir()
        # In a namespace of its own, so that nothing is left mounted.
        mount = "mount -t tmpfs -o size=64k none small"
        if subprocess.run(["unshare", "-m", "sh", "-c", mount], cwd=self.folder, capture_output=True).returncode != 0:
            self.skipTest("a small file system can't be mounted here")
        script = f"""{mount} && cp A.npy small/A.npy || exit 99
            "$@"; status=$?
            cmp A.npy small/A.npy >&2 && [ "$(ls -A small)" = A.npy ] && exit $status; exit 98"""
        command = self.words(2, "redistribute", "big.npy", "-o", "small/A.npy")
        result = self.run_words(["unshare", "-m", "sh", "-c", script, "sh", *command])
        self.expect_one_error(result, FAILED, "small/A.npy: .*No space left on device")

    def test_a_full_disk_leaves_the_folder_of_the_parts_as_it_was(self):
        (self.folder / "small").mkdir()
        mount = "mount -t tmpfs -o size=140k none small"
        if subprocess.run(["unshare", "-m", "sh", "-c", mount], cwd=self.folder, capture_output=True).returncode != 0:
            self.skipTest("a small file system can't be mounted here")
        # Rank 1's part alone has no room, so that rank 0's is there when the job fails.
        tiling = {"row_splits": [0, 10, 200], "column_splits": [0, 100], "owners": [[0], [1]], "storage": "row"}
        (self.folder / "tiling.json").write_text(json.dumps(tiling))
        script = f"""{mount} && "$1" redistribute B.npy --quiet --per-rank small/parts && cp -r small/parts before || exit 99
            shift; {{ "$@" small/parts; first=$?; "$@" small/new/parts; }}; second=$?
            diff -r small/parts before >&2 && [ "$(ls -A small)" = parts ] && [ $first = 1 ] && exit $second; exit 98"""
        command = self.words(2, "redistribute", "big.npy", "--to", "custom:tiling.json", "--per-rank")
        result = self.run_words(["unshare", "-m", "sh", "-c", script, "sh", self.plait, *command])
        self.assertEqual(result.status, FAILED, result.stderr)
        self.assertEqual(len(result.errors), 2, result.stderr)
        for error in result.errors:
            self.assertRegex(error, "parts/rank-0001.npy: .*No space left on device")

    def test_standard_output_that_takes_nothing(self):
        result = self.run_words(["sh", "-c", 'exec "$@" >/dev/full', "sh", *self.words(0, "info")])
        self.expect_one_error(result, FAILED, "standard output: can't be written: No space left on device")
        for word in ("--help", "--version"):  # for which the other ranks are not needed, and end at once
            words = [self.mpiexec, "2", "sh", "-c", 'exec "$@" >/dev/full', "sh", self.plait, word]
            self.expect_one_error(self.run_words(words), FAILED, "standard output: can't be written: No space left on device")

    def test_standard_streams_that_are_closed(self):
        result = self.run_words(["sh", "-c", 'exec "$@" >&-', "sh", *self.words(0, "info")])
        self.expect_one_error(result, FAILED, "standard output: can't be written: Bad file descriptor")
        result = self.run_words(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *self.words(0, "generate", "9x9", "-o", "M")])
        self.assertEqual(result.status, FAILED)
        self.assertEqual(self.load("M").shape, (9, 9))  # and no text was written into it

    def test_progress_that_nobody_can_be_told_ends_no_job(self):
        job = ["redistribute", "B.npy", "-o", "C.npy", "--progress", "--op", "transpose"]
        for ranks, script in [
            (1, 'exec "$0" "$@" 2>/dev/full'),
            (2, 'exec "$0" "$@" 2>/dev/full'),
            (1, 'exec "$0" "$@" 2>&-'),
            (0, '{ sleep 0.2; "$0" "$@"; echo $? >status; } 2>&1 >/dev/null | true; exit $(cat status)'),
        ]:
            with self.subTest(ranks=ranks, script=script):
                launch = [self.mpiexec, str(ranks)] if ranks > 0 else []
                result = self.run_words([*launch, "sh", "-c", script, self.plait, *job])
                self.assertEqual(result.status, 0, result.stderr)
                np.testing.assert_array_equal(self.load("C.npy"), self.load("B.npy").T)
                (self.folder / "C.npy").unlink()

    def test_the_launcher_of_the_other_mpi(self):
        other = "mpiexec.mpich" if self.family == "Open MPI" else "mpiexec.openmpi"
        launcher = shutil.which(other)
        if launcher is None:
            self.skipTest(f"there is no {other}")
        options = ["--oversubscribe"] if other == "mpiexec.openmpi" else []
        environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        old = (self.folder / "A.npy").read_bytes()
        words = [launcher, *options, "-n", "3", self.plait, *MOVE_B, *TO_A]
        result = self.run_words(words, environment)
        self.expect_one_error(result, FAILED, "started as one of 3 processes by the launcher of .*, but built with")
        self.assertEqual((self.folder / "A.npy").read_bytes(), old)
