"""plait exec: which variables it sets, what it runs, and how it ends."""

import json
import os
import shlex
import shutil
from pathlib import Path

from harness import CommandTest



class Exec(CommandTest):
    known: list[Path] | None = None  # the libraries of the build, which all tests share

    def setUp(self):
        super().setUp()
        if not self.libraries():
            self.skipTest("the build has no library for unmodified programs")

    def libraries(self) -> list[Path]:
        if Exec.known is None:
            found = json.loads(self.succeed(0, "info", "--json"))["reductions"].values()
            Exec.known = [Path(library["path"]) for library in found if library]
        return Exec.known

    def script(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return f"./{name}"

    def settings(self, *options: str, **environment: str) -> dict[str, str]:
        """The variables that differ from those of the environment, as the command finds them."""
        result = self.run_words([self.plait, "exec", *options, "--", "env", "-0"], environment)
        self.assertEqual((result.status, result.stderr), (0, ""))
        after = dict(line.split("=", 1) for line in result.stdout.split("\0") if line)
        before = os.environ | environment
        return {name: value for name, value in after.items() if before.get(name) != value and name != "_"}

    def test_the_libraries_are_named_in_the_variables(self):
        for library in self.libraries():
            self.assertIn(str(library.parent if library.name.startswith("mca") else library), str(self.settings()))

    def test_they_work_from_a_path_with_a_space(self):
        libraries = self.libraries()
        home = self.folder / "a b: c"
        (home / "bin").mkdir(parents=True)
        shutil.copy2(self.plait, home / "bin/plait")
        (home / "lib").symlink_to(Path(self.plait).parents[1] / "lib")
        cache = {"XDG_CACHE_HOME": str(self.folder / "cache")}
        for _ in range(2):
            result = self.run_words([str(home / "bin/plait"), "exec", "--", "env", "-0"], cache)
            self.assertEqual((result.status, result.stderr), (0, ""))
            after = dict(line.split("=", 1) for line in result.stdout.split("\0") if line)
            told = Path(after["LD_PRELOAD"].split(":")[-1])
            self.assertTrue(told.is_relative_to(self.folder / "cache/plait"))
            self.assertIn(told.resolve(), [library.resolve() for library in libraries])
        (self.folder / "file").write_text("")
        refused = self.run_words([str(home / "bin/plait"), "exec", "--", "true"], {"XDG_CACHE_HOME": str(self.folder / "file")})
        self.assertIn("holds a separator of lists, and no link to it can be made", refused.stderr)

    def test_scalapack_is_served_where_that_is_asked_for(self):
        library = json.loads(self.succeed(0, "info", "--json"))["scalapack"]
        if library is None:
            self.assertIn("libplait_scalapack.so is not there", self.run_plait(0, "exec", "--scalapack", "--", "true").stderr)
            return
        preloaded = self.settings("--scalapack")["LD_PRELOAD"].split(":")
        self.assertEqual(preloaded[-2:], [self.settings()["LD_PRELOAD"].split(":")[-1], library["path"]])
        self.assertIn(f"ScaLAPACK             {library['path']}, not in use", self.succeed(0, "info"))

    def test_what_is_in_the_variables_stays(self):
        before = {"OMPI_MCA_mca_base_component_path": "/else/where", "LD_PRELOAD": "libm.so.6"}
        after = self.settings(**before)
        for name in set(after) & set(before):
            self.assertEqual(after[name].split(":")[: before[name].count(":") + 1], before[name].split(":"))
        self.assertEqual(self.settings(**(before | after)), {})

    def test_settings_of_plait_are_passed_on(self):
        plain = self.settings()
        self.assertEqual(
            self.settings("--isa", "scalar", "--log", "--reproducible"),
            plain | {"PLAIT_ISA": "scalar", "PLAIT_LOG": "summary", "PLAIT_REPRODUCIBLE": "1"},
        )

    def test_they_can_be_printed_for_a_shell(self):
        text = self.succeed(0, "exec", "--log", "--print")
        printed = dict(shlex.split(line)[1].split("=", 1) for line in text.splitlines())
        self.assertEqual(printed, self.settings("--log"))

    def test_the_command_can_be_printed_with_them(self):
        words = ["printf", "%s|", "a b", "it's", "", "$HOME"]
        text = self.succeed(0, "exec", "--print", "--", *words)
        self.assertEqual(text.splitlines()[:-1], self.succeed(0, "exec", "--print").splitlines())
        self.assertEqual(shlex.split(text.splitlines()[-1]), words)
        self.assertEqual(self.run_words(["sh", "-c", text]).stdout, "a b|it's||$HOME|")

    def test_a_library_that_is_missing_is_named(self):
        plait = self.folder / "bin" / "plait"
        plait.parent.mkdir()
        shutil.copy(self.plait, plait)
        for missing in self.libraries():
            shutil.rmtree(self.folder / "lib", ignore_errors=True)
            for library in self.libraries():
                link = self.folder.joinpath(*library.parts[-4:])
                link.parent.mkdir(parents=True, exist_ok=True)
                if library != missing:
                    link.symlink_to(library)
            result = self.run_words([str(plait), "exec", "--", "true"])
            self.assertEqual((result.status, len(result.errors)), (1, 1), result.stderr)
            self.assertIn(missing.name, result.stderr)
            self.assertIn(f" is not there, nor in {link.parent}: ", result.stderr)

    def test_the_command_gets_its_arguments_and_gives_its_status(self):
        script = self.script("say", 'for word; do echo "[$word]"; done; exit 42')
        for words in (["--", script, "--log", "--", "a b", ""], [script, "--log", "--", "a b", ""]):
            result = self.run_plait(0, "exec", *words)
            self.assertEqual((result.status, result.stdout, result.stderr), (42, "[--log]\n[--]\n[a b]\n[]\n", ""))

    def test_a_reader_that_goes_away_ends_the_command_as_ever(self):
        result = self.run_words(["sh", "-c", f"{shlex.quote(self.plait)} exec -- yes | head -n 1"])
        self.assertEqual((result.status, result.stdout, result.stderr), (0, "y\n", ""))

    def test_what_can_not_be_run_is_named(self):
        (self.folder / "text").write_text("no program")
        for words, status, complaint in (
            (["--", "no-such-program"], 127, "error: no-such-program: No such file or directory"),
            (["./text"], 126, "error: ./text: Permission denied"),
            ([], 2, "error: no command is given, expected plait exec [OPTIONS] -- COMMAND...; see plait exec --help"),
            (["--lgo", "--", "true"], 2, "error: exec has no option --lgo; did you mean --log? See plait exec --help"),
            (["--isa", "mmx", "--", "true"], 2, 'error: --isa: instruction set "mmx": expected one of'),
        ):
            with self.subTest(words):
                result = self.run_plait(0, "exec", *words)
                self.assertEqual((result.status, len(result.errors)), (status, 1), result.stderr)
                self.assertIn(complaint, result.stderr)

    def test_the_launcher_of_another_mpi_is_refused(self):
        name, other = ("mpiexec.hydra", "MPICH") if self.family == "Open MPI" else ("orterun", "Open MPI")
        self.script(name, "echo launched")
        (self.folder / "mpirun").symlink_to(name)
        (self.folder / "before/mpirun").mkdir(parents=True)  # a folder is no program
        path = f"{self.folder / 'before'}:{self.folder}:{os.environ['PATH']}"
        result = self.run_words([self.plait, "exec", "--", "mpirun"], {"PATH": path})
        self.assertEqual((result.status, result.stdout, len(result.errors)), (1, "", 1))
        self.assertIn(f"mpirun is the launcher of {other}, but this plait was built with {self.family}", result.stderr)

    def test_open_mpi_s_launcher_is_told_all_that_ranks_on_other_nodes_need(self):
        if self.family != "Open MPI":
            self.skipTest("MPICH's launcher takes the environment along")
        self.script("orterun", 'echo "$@"')
        with_path = {"PATH": f"{self.folder}:{os.environ['PATH']}"}
        for options, environment, told in (
            ((), {}, []),
            (("--log",), {}, ["PLAIT_LOG"]),
            ((), {"PLAIT_LOG": "choices", "PLAIT_ISA": "scalar"}, ["PLAIT_ISA", "PLAIT_LOG"]),
            (("--isa", "scalar"), {"PLAIT_ISA": "avx2", "PLAIT_REPRODUCIBLE": "1"}, ["PLAIT_ISA", "PLAIT_REPRODUCIBLE"]),
        ):
            with self.subTest(options=options, environment=environment):
                words = [self.plait, "exec", *options, "--", "orterun", "-x", "ELSE", "./none"]
                result = self.run_words(words, with_path | environment)
                self.assertEqual((result.status, result.stderr), (0, ""))
                forwarded = [word for name in ["LD_PRELOAD", *told, "ELSE"] for word in ("-x", name)]
                self.assertEqual(result.stdout.split(), [*forwarded, "./none"])

    def test_a_program_of_another_mpi_is_refused(self):
        names = {"Open MPI": (b"libmpi.so.40\0", b"libmpich.so.\0"), "MPICH": (b"libmpich.so.12\0", b"libmpi.so.40.0\0")}
        own, other = names[self.family]
        program = self.folder / "program"
        program.write_bytes(Path(self.plait).read_bytes().replace(own, other))
        program.chmod(0o755)
        self.script("orterun" if self.family == "Open MPI" else "mpiexec.hydra", "echo launched")
        launcher = self.script("launcher", "echo launched")
        with_path = {"PATH": f"{self.folder}:{os.environ['PATH']}"}
        for words in (["./program"], ["program"], ["orterun", "-n", "2", "./program"], ["mpiexec.hydra", "program"],
                      ["orterun", "-n", "1", "sh", "-c", ":", ":", "-n", "2", "./program"],
                      ["mpiexec.hydra", "-n", "1", "sh", ":", "-n", "1", "-env", "A", "b", "program"]):
            if words[0] in ("orterun", "mpiexec.hydra") and not (self.folder / words[0]).exists():
                continue
            with self.subTest(words):
                result = self.run_words([self.plait, "exec", "--", *words], with_path)
                self.assertEqual((result.status, result.stdout, len(result.errors)), (1, "", 1), result.stderr)
                self.assertRegex(result.stderr, rf"program is a program of .* \(it needs {other[:-1].decode()}\)")
        self.assertEqual(self.run_words([self.plait, "exec", "--", launcher, "./program"]).stdout, "launched\n")

    def test_it_starts_again_for_threads_that_sleep_unless_somebody_has_decided(self):
        for ranks in (0, 2):
            for setting, told in ((["-u", "GOMP_SPINCOUNT"], None), (["GOMP_SPINCOUNT=7"], "7")):
                result = self.run_words(["env", *setting, "OMP_NUM_THREADS=2", *self.words(ranks, "info", "--json")])
                self.assertEqual((result.status, result.stderr), (0, ""))
                self.assertEqual(json.loads(result.stdout)["environment"]["GOMP_SPINCOUNT"], told)

    def test_blas_kernels_use_the_processors_vectors_unless_somebody_has_decided(self):
        if " avx2 " not in Path("/proc/cpuinfo").read_text():
            self.skipTest("the processor has no AVX2")
        for ranks in (0, 2):
            for setting, told in ((["-u", "OPENBLAS_CORETYPE"], None), (["OPENBLAS_CORETYPE=Haswell"], "Haswell")):
                result = self.run_words(["env", *setting, *self.words(ranks, "info", "--json")])
                report = json.loads(result.stdout)
                self.assertEqual(report["environment"]["OPENBLAS_CORETYPE"], told)
                if report["blas_kernels"] is not None:
                    self.assertIn(report["blas_kernels"], [told] if told else ["Haswell", "Zen", "SkylakeX", "Cooperlake", "Sapphirerapids"])

    def test_what_others_set_keeps_it_from_no_start(self):
        for ranks in (0, 2):
            set_by_others = ["OMP_NUM_THREADS=2", "PLAIT_RESTARTED_WITH=OMP_NUM_THREADS"]
            report = json.loads(self.run_words(["env", *set_by_others, *self.words(ranks, "info", "--json")]).stdout)
            self.assertEqual(report["environment"]["OMP_NUM_THREADS"], "2")

    def test_the_reductions_are_in_use_in_what_it_runs(self):
        for words in ([self.plait, "exec", "--", *self.words(2, "info", "--json")],
                      self.words(2, "exec", "--", self.plait, "info", "--json")):  # fmt: skip
            result = self.run_words(words)
            self.assertEqual((result.status, result.stderr), (0, ""))
            report = json.loads(result.stdout)
            self.assertEqual(report["ranks"], 2)
            for library in report["reductions"].values():
                self.assertTrue(library is None or library["active"], report["reductions"])
        report = json.loads(self.succeed(2, "info", "--json"))
        self.assertFalse(any(library["active"] for library in report["reductions"].values() if library))
