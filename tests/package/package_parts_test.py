"""package_parts_test.py SOURCE BUILD MPI MPICC MPIEXEC: each part of plait is there for itself, and wants no package that
only another one needs.

The parts are configured and not compiled, which would take minutes: ninja lists what they are made of, and what of it
nothing makes. Open MPI has all parts that there are with any MPI; with another one what is compiled here is tried.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD, MPI, MPICC, MPIEXEC = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:6]
PARTS = ("COMMAND", "CAPI", "SHIMS", "TESTS", "BENCH")
PACKAGES = {"CLI11": ("COMMAND", "BENCH"), "GTest": ("TESTS",), "LAPACK": ("TESTS",)}  # which parts need them


def run(*words, **more) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def cached(name: str) -> str:
    return re.search(f"^{name}:[A-Z]+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)[1]


class Parts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.build = cls.folder / "build"  # what CMake found out about compilers is true for all parts

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def configure(self, source: Path, parts: tuple[str, ...], *options: str):
        missing = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}={'OFF' if set(users) & set(parts) else 'ON'}"
                   for name, users in PACKAGES.items()]
        run("cmake", "-S", source, "-B", self.build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={cached('CMAKE_CXX_COMPILER')}",
            f"-DMPI_C_COMPILER={MPICC}", f"-DCMAKE_BUILD_TYPE={cached('CMAKE_BUILD_TYPE')}",
            f"-DPLAIT_ASSERT_LEVEL={cached('PLAIT_ASSERT_LEVEL')}", *missing, *options)  # fmt: skip

    def made(self) -> set[str]:
        """The names of programs and libraries that would be built; that they could is checked."""
        rules = run("ninja", "-C", self.build, "-t", "targets", "all").splitlines()
        made = {line.rsplit(": ", 1)[0] for line in rules}
        wanted = set(run("ninja", "-C", self.build, "-t", "inputs", "all").splitlines())
        self.assertEqual([path for path in wanted - made if not (self.build / path).exists()], [])
        links = [line for line in run("ninja", "-C", self.build, "-t", "commands").splitlines() if " -o " in line]
        self.assertEqual([line for line in links if re.search(r" -lplait(?!_)", line)], [])  # a target that is not there
        return {Path(line.split(": ")[0]).name for line in rules if "_LINKER__" in line}

    def made_of(self, *parts: str) -> set[str]:
        self.configure(SOURCE, parts, *(f"-DPLAIT_BUILD_{part}={'ON' if part in parts else 'OFF'}" for part in PARTS))
        return self.made()

    def test_each_can_be_left_out(self):
        for part in PARTS:
            with self.subTest(part):
                self.made_of(*(set(PARTS) - {part}))

    def test_the_library_alone_is_a_subdirectory_of_a_project(self):
        project, self.build = self.folder / "project", self.folder / "of_project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.25)\nproject(consumer LANGUAGES CXX)\nadd_subdirectory({SOURCE} plait)\n"
            f"add_executable(program {SOURCE}/examples/redistribute.cpp)\ntarget_link_libraries(program PRIVATE plait::plait)\n")
        self.configure(project, ())
        self.assertEqual(self.made(), {f"libplait-{MPI}.a", "program"})
        library = Path("src/plait") / f"libplait-{MPI}.a"  # what would be built is what was
        (self.build / "plait" / library).symlink_to(BUILD / library)
        for command in run("ninja", "-C", self.build, "-t", "commands", "program").splitlines():
            if "program.dir" in command:
                run("sh", "-c", command, cwd=self.build)
        self.assertEqual(run(MPIEXEC, 2, self.build / "program").count(": 0 wrong elements"), 2)

    def test_the_c_api_alone(self):
        self.assertEqual(self.made_of("CAPI"), {f"libplait-{MPI}.a", f"libplait-{MPI}.so.0.1.0", f"libplait_c-{MPI}.a"})

    def test_the_command_alone(self):
        self.assertEqual({name for name in self.made_of("COMMAND") if not name.endswith(".a")}, {f"plait.{MPI}"})

    def test_the_libraries_for_other_programs_alone(self):
        made = self.made_of("SHIMS")
        self.assertLess({"libplait_reduce.so", "libplait_scalapack.so"}, made)
        self.assertFalse({name for name in made if not name.startswith(("lib", "mca_"))})

    def test_sources_that_presets_compile_together_compile_alone(self):
        self.made_of("SHIMS")
        compiling = re.compile(r" -c \S*/shim/reduce/exported_\w+\.cpp$")
        commands = [line for line in run("ninja", "-C", self.build, "-t", "commands").splitlines() if compiling.search(line)]
        self.assertEqual(len(commands), {"openmpi": 2, "mpich": 1}[MPI])
        for command in commands:
            (self.build / re.search(r" -o (\S+)", command)[1]).parent.mkdir(parents=True, exist_ok=True)
            run("sh", "-c", command, cwd=self.build)

    def test_the_tests_alone(self):
        made = self.made_of("TESTS")
        self.assertLess({"mpi_redistribute", "example_redistribute"}, made)
        self.assertFalse(made & {f"plait.{MPI}", "bench_redistribute", "mpi_capi"})

    def test_the_benchmarks_alone(self):
        made = self.made_of("BENCH")
        self.assertLess({"bench_redistribute", "cluster_check"}, made)
        self.assertFalse(made & {f"plait.{MPI}", "mpi_redistribute", "mpi_capi"})


class Compilers(unittest.TestCase):
    def judged(self, name: str, version: str) -> tuple[bool, str]:
        done = subprocess.run(
            ["cmake", f"-DCMAKE_CXX_COMPILER_ID={name}", f"-DCMAKE_CXX_COMPILER_VERSION={version}", "-P",
             SOURCE / "cmake/PlaitCompiler.cmake"], capture_output=True, text=True, check=False)  # fmt: skip
        return done.returncode == 0, " ".join(done.stderr.split())

    def test_those_that_are_supported_are_taken_without_a_word(self):
        for name, version in (("GNU", "12.2.0"), ("GNU", "15.1.0"), ("Clang", "14.0.6"), ("Clang", "19.1.7")):
            self.assertEqual(self.judged(name, version), (True, ""))

    def test_older_ones_are_refused_in_a_line(self):
        for name, version in (("GNU", "11.4.0"), ("Clang", "13.0.1"), ("MSVC", "19.40")):
            taken, text = self.judged(name, version)
            self.assertFalse(taken)
            self.assertIn(f"{name} {version} can't compile plait: use g++ 12, clang 14 or later", text)

    def test_others_are_told_to_be_untried(self):
        taken, text = self.judged("IntelLLVM", "2024.0")
        self.assertEqual((taken, text), (True, "IntelLLVM 2024.0 was never tried: plait is made for g++ 12, clang 14 and later"))


if __name__ == "__main__":
    compiled = ("the_library_alone_is_a_subdirectory_of_a_project", "sources_that_presets_compile_together_compile_alone")
    unittest.main(argv=[sys.argv[0], *([] if MPI == "openmpi" else [f"Parts.test_{name}" for name in compiled])])
