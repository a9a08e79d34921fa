"""What the command tells about itself, and that docs/command.md tells the same."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from harness import CommandTest, Result, alike_with_every_mpi

REFERENCE = Path(__file__).parents[3] / "docs/command.md"
SOURCES = Path(__file__).parents[3] / "src"
JOBS = SOURCES / "cli/jobs/jobs.cpp"
COMMANDS = re.findall(r"^  JOB\((\w+)\)", JOBS.read_text(), re.MULTILINE)


def options_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def keys_of(value, prefix: str = "") -> set[str]:
    if not isinstance(value, dict):
        return set()
    names = {f"{prefix}{key}" for key in value}
    return names.union(*(keys_of(inner, f"{prefix}{key}.") for key, inner in value.items()))


class Help(CommandTest):
    @alike_with_every_mpi
    def test_the_reference_knows_the_options_that_the_help_knows(self):
        in_help = {"--version"}
        for command in COMMANDS:
            text = self.succeed(0, command, "--help")
            self.assertIn("Example:", text)
            self.assertLessEqual(max(map(len, text.splitlines())), 130)
            in_help |= options_in(text)
        self.assertEqual(options_in(REFERENCE.read_text()), in_help)

    @alike_with_every_mpi
    def test_usage_names_what_has_to_be_given_as_the_reference_does(self):
        usages = set()
        for command in COMMANDS:
            text = self.succeed(0, command, "--help")
            usage = re.search(r"^Usage: (.*)$", text, re.MULTILINE)[1]
            usages.add(usage)
            blocks = {block.partition(":\n")[0]: block for block in text.split("\n\n")}
            choice = "".join(re.findall(r"\((.*)\)", usage))
            needed = usage.replace(choice, "").partition(" [OPTIONS]")[0]
            for title, words in (("Required", needed), ("One of these (required)", choice)):
                for word in re.findall(r"(?<=[ (])--?[a-z-]+", f" {words}"):
                    self.assertRegex(blocks[title], rf"(?m)^  ({word}[, ]|-\w, {word} )")
            if command == "exec":
                continue
            bare = self.run_plait(0, command)
            if usage == f"plait {command} [OPTIONS]":
                self.assertEqual(bare.status, 0)
            else:
                self.assertEqual(bare.status, 2)
                self.assertRegex(bare.stderr, rf"(is missing|is given), expected {re.escape(usage)}; see plait {command} --help\n")
        self.assertEqual(set(re.findall(r"^## (plait .*)$", REFERENCE.read_text(), re.MULTILINE)), usages)

    @alike_with_every_mpi
    def test_a_word_that_is_unknown_is_answered_by_all_that_are_known(self):
        ops = "identity, transpose, conjugate or conjugate-transpose; or N, T, C, H"
        metrics = "sqeuclidean, euclidean, cityblock, chebyshev, minkowski or cosine"
        known = {
            ("redistribute", "--op"): ops, ("plan", "--op"): ops, ("multiply", "--op-a"): ops, ("multiply", "--op-b"): ops,
            ("multiply", "--method"): "auto, ring, summa, cannon or in-place",
            ("purify", "--method"): "auto, canonical, mcweeny, tc2, trs4, hpcp or eigen",
            ("purify", "--bounds"): "lanczos or gershgorin", ("purify", "--symmetric"): "lower or upper",
            ("purify", "--per-state"): "1 or 2",
            ("sinkhorn", "--method"): "scaling, in-place, algorithm-1, algorithm-2 or algorithm-3",
            ("sinkhorn", "--exchange"): "auto, mpi, ring, two-level or coffee",
            ("sinkhorn", "--precision"): "auto, f64, f32, mixed or bf16",
            ("transport", "--precision"): "auto, f64, f32 or mixed", ("divergence", "--precision"): "auto, f64, f32 or mixed",
            ("balance", "--precision"): "auto, f64 or mixed", ("barycentre", "--precision"): "auto, f64 or mixed",
            ("transport", "--metric"): metrics, ("barycentre", "--metric"): metrics, ("divergence", "--metric"): metrics,
            ("transport", "--method"): "auto, factors or logarithms", ("barycentre", "--method"): "auto, factors or logarithms",
            ("divergence", "--method"): "auto, factors or logarithms",
            ("poisson", "--method"): "auto, jacobi, chebyshev, sor, cg, pipelined-cg, fft, lu, v, w, f, fmg or mg-cg", ("poisson", "--at"): "cells or nodes",
            ("partition", "--method"): "best, multilevel, spectral, levels, kl, orb, inertial, hilbert or morton",
            ("generate", "--order"): "C or F",
            ("generate", "--kind"): "c60, fullerene, polyacetylene, graphene or prescribed",
            ("generate", "--dtype"): "i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64 and c128",
            ("plan", "--dtype"): "i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64 and c128",
            ("plan", "--from"): "block-cyclic, rows, cols, blocks or custom",
            ("redistribute", "--to"): "block-cyclic, rows, cols, blocks or custom",
        }  # fmt: skip
        for (command, option), words in known.items():
            with self.subTest(f"{command} {option}"):
                result = self.run_plait(0, command, f"{option}=nonsense")
                self.assertEqual(result.status, 2)
                text = " ".join(self.succeed(0, command, "--help").split()).replace(" (default)", "")
                for word in re.findall(r"[\w@:-]+", words):
                    self.assertRegex(result.errors[0], rf"--.*\b{re.escape(word)}")
                    if word not in ("or", "and"):
                        self.assertIn(word, text)

    @alike_with_every_mpi
    def test_an_option_takes_the_same_kind_of_value_in_all_commands(self):
        values: dict[str, set[str]] = {}
        for command in COMMANDS:
            text = self.succeed(0, command, "--help")
            for name, value in re.findall(r"^  (?:-\w, )?(--[a-z-]+)(?: (\S+(?: Y)?))?(?:  |$)", text, re.MULTILINE):
                values.setdefault(name, set()).add(value)
        values.pop("--unbalanced")  # one number for both sides of a divergence
        values.pop("--start")  # of centres also how they are drawn
        values.pop("--from")  # a layout, or the parts of a graph
        values.pop("--points")  # two sets of points to transport between, or those of a graph
        self.assertEqual({name: found for name, found in values.items() if len(found) > 1}, {})

    @alike_with_every_mpi
    def test_the_layouts_of_the_help_are_layouts(self):
        self.save("B.npy", np.ones((10, 8)))
        text = self.succeed(0, "redistribute", "--help")
        for layout in re.findall(r"^  ((?:rows|cols|blocks|block-cyclic)[@:]\S+)", text, re.MULTILINE):
            with self.subTest(layout):
                result = self.run_plait(0, "redistribute", "B.npy", "-o", "A.npy", "--from", layout)
                self.assertRegex(result.stderr, rf"--from: {re.escape(layout)} needs (\d) ranks, there is 1; start it with mpirun -n \1\n")

    def test_help_and_version_are_printed_once_and_need_no_mpi(self):
        for words in (["--help"], ["--version"], ["info", "--help"]):
            with self.subTest(words):
                alone = self.succeed(0, *words)
                self.assertEqual(self.succeed(3, *words), alone)

    @alike_with_every_mpi
    def test_a_reader_that_has_read_enough_of_it_is_no_error(self):
        for word in ("--help", "--version"):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run(self.words(0, word), stdout=writer, stderr=subprocess.PIPE, check=False)
            os.close(writer)
            self.assertEqual(done.stderr, b"")

    def test_what_another_launcher_left_in_the_environment_hides_nothing(self):
        left = "PMI" if self.family == "Open MPI" else "OMPI_COMM_WORLD"
        result = self.run_words([self.plait, "--version"], {f"{left}_RANK": "1", f"{left}_SIZE": "2"})
        self.assertEqual((result.status, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^plait \d+\.\d+\.\d+\n$")

    @alike_with_every_mpi
    def test_the_program_lists_its_commands(self):
        text = self.succeed(0, "--help").partition("\nCommands:\n")[2].partition("\n\n")[0]
        self.assertEqual(re.findall(r"^  (\w+) ", text, re.MULTILINE), COMMANDS)

    @alike_with_every_mpi
    def test_every_job_is_a_file_and_a_section_of_the_reference(self):
        files = {path.stem for path in JOBS.parent.glob("*.cpp")} - {"jobs"}
        sections = re.findall(r"^## plait (\w+)", REFERENCE.read_text(), re.MULTILINE)
        self.assertEqual((files, set(sections)), (set(COMMANDS), set(COMMANDS)))

    def test_info_tells_of_all_ranks(self):
        report = json.loads(self.succeed(3, "info", "--json"))
        self.assertEqual((report["ranks"], report["nodes"]), (3, 1))
        self.assertIn(self.family, report["mpi"])
        self.assertIn(report["isa"], report["isas"])
        self.assertGreater(report["memory"]["total_bytes"], report["memory"]["available_bytes"])
        self.assertEqual(report["environment"]["OMP_NUM_THREADS"], "1")
        text = self.succeed(0, "info")
        self.assertIn(f"{report['mpi']}, 1 rank on 1 node\n", text)
        for key in keys_of(report):
            self.assertIn(f"`{key.split('.')[-1]}`", REFERENCE.read_text())

    def run_without_proc(self, *words: str) -> Result:
        hidden = ["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
        if self.run_words([*hidden, "true"]).status != 0:
            self.skipTest("no file system can be mounted in a namespace")
        return self.run_words([*hidden, *words])

    def test_it_finds_its_libraries_where_proc_is_hidden(self):
        words = self.words(0, "exec", "--print")
        usual, result = self.run_words(words), self.run_without_proc(*words)
        self.assertEqual((result.status, result.stderr), (usual.status, usual.stderr))
        self.assertTrue(result.stdout.endswith(usual.stdout), result.stdout)  # libraries of the MPI may complain before

    def test_info_tells_the_rest_where_proc_is_hidden(self):
        mpi = re.search(r"=> (\S*/libmpi\S*) ", self.run_words(["ldd", self.plait]).stdout)[1]
        bare = "import ctypes, sys; mpi = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL); sys.exit(mpi.MPI_Init(0, 0) or mpi.MPI_Finalize())"
        if self.run_without_proc(sys.executable, "-c", bare, mpi).status != 0:
            self.skipTest("this machine's MPI does not start where /proc is hidden")
        result = self.run_without_proc(*self.words(0, "info", "--json"))
        self.assertEqual((result.status, result.stderr), (0, ""))
        report, usual = json.loads(result.stdout), json.loads(self.succeed(0, "info", "--json"))
        self.assertEqual((report["processor"], report["memory"]["total_bytes"]), ("unknown", 0))
        self.assertEqual([report["reductions"], report["scalapack"]], [usual["reductions"], usual["scalapack"]])

    @alike_with_every_mpi
    def test_info_tells_every_variable_that_is_read(self):
        of_others = re.compile("OMPI_COMM_WORLD_|PMIX?_|HYDI_|MPI_LOCALNRANKS|SLURM_|LD_PRELOAD|SYSTEM_DEFAULT|XDG_|PLAIT_RESTARTED_WITH")
        read = set()
        for source in SOURCES.rglob("*.cpp"):
            text = source.read_text()
            if source.name == "info.cpp" or not re.search(r"\b(getenv|environment)\(", text):
                continue
            words = re.findall(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"', text)
            read |= {word for word in words if not of_others.match(word)}
        self.assertIn("PLAIT_ISA", read)
        self.assertEqual(set(json.loads(self.succeed(0, "info", "--json"))["environment"]), read)

    @alike_with_every_mpi
    def test_the_reference_knows_the_keys_of_the_reports(self):
        self.save("B.npy", np.ones((10, 8)))
        self.save("H.npy", np.diag([1.0, 2.0, 3.0, 4.0]))
        self.save("S.npy", np.eye(4))
        self.save("y.npy", np.arange(4.0) % 2)
        (self.folder / "g.graph").write_text("3 2\n2\n1 3\n2\n")
        reports = [
            self.succeed(0, "plan", "--shape", "9x9", "--from", "rows@2", "--to", "cols@2", "--relabel", "--json"),
            self.succeed(0, "info", "--json"),
            self.succeed(0, "redistribute", "B.npy", "-o", "A.npy", "--trace", "t.json", "--json"),
            self.succeed(0, "trace", "t.json", "--json"),
            self.succeed(0, "generate", "3x3", "-o", "M.npy", "--json"),
            self.succeed(0, "multiply", "M.npy", "M.npy", "-o", "C.npy", "--json"),
            self.succeed(0, "purify", "H.npy", "--electrons", "4", "--overlap", "S.npy", "--json"),
            self.succeed(0, "sinkhorn", "B.npy", "-o", "P.npy", "--json"),
            self.succeed(0, "transport", "B.npy", "--epsilon", "1", "-o", "P.npy", "--json"),
            self.succeed(0, "balance", "S.npy", "-o", "x.npy", "--json"),
            self.succeed(0, "barycentre", "S.npy", "--histograms", "S.npy", "--epsilon", "1", "-o", "a.npy", "--json"),
            self.succeed(0, "divergence", "S.npy", "--epsilon", "1", "--json"),
            self.succeed(0, "kmeans", "S.npy", "-k", "2", "-o", "l.npy", "--json"),
            self.succeed(0, "fit", "S.npy", "--labels", "y.npy", "--model", "svm", "--held-out", "0.3", "-o", "w.npy", "--json"),
            self.succeed(0, "train", "S.npy", "--labels", "y.npy", "--net", "dense 2 softmax", "--held-out", "0.3", "--predict", "S.npy", "--predictions", "p.npy", "--json"),
            self.succeed(0, "poisson", "B.npy", "-o", "u.npy", "--json"),
            self.succeed(0, "partition", "g.graph", "-k", "2", "-o", "p.npy", "--json"),
            self.succeed(0, "repartition", "g.graph", "--from", "p.npy", "-o", "q.npy", "--json"),
            self.succeed(0, "order", "g.graph", "-o", "o.npy", "--json"),
            self.succeed(0, "transport", "B.npy", "--epsilon", "1", "--rows", "B.npy", "--row-potentials", "f.npy", "--json"),
        ]
        commands, reference = set(), REFERENCE.read_text()
        for report in map(json.loads, reports):
            commands.add(report["command"])
            for key in keys_of(report):
                self.assertRegex(reference, rf"`({re.escape(key)}|{key.split('.')[-1]})`")
        self.assertEqual(commands, set(COMMANDS) - {"machine", "exec"})
