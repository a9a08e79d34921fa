"""package_test.py SOURCE BUILD MPICC MPIEXEC: installs what was built into a folder of its own, and builds the examples
against it as a user would, by CMake and by pkg-config."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD, MPICC, MPIEXEC = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]


def run(*words, **more) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = Path(tempfile.mkdtemp())
        installed = cls.scratch / "installed"
        run("cmake", "--install", BUILD, "--prefix", installed)
        cls.prefix = installed.rename(cls.scratch / "moved")  # nothing depends on where it was put first
        cls.project = cls.scratch / "project"
        cls.project.mkdir()
        shutil.copy(SOURCE / "tests/package/consumer.cmake", cls.project / "CMakeLists.txt")
        cls.lib = next(cls.prefix.rglob("libplait.so")).parent

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.scratch)

    def expect_right(self, program: Path):
        for ranks in (1, 2):
            output = run(MPIEXEC, ranks, program)
            self.assertEqual(output.count(": 0 wrong elements"), ranks, output)

    def configure(self, build: Path, *options: str):
        run("cmake", "-S", self.project, "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DEXAMPLES={SOURCE / 'examples'}", *options)

    def test_cmake_finds_all_three_libraries(self):
        build = self.scratch / "build"
        self.configure(build)
        run("cmake", "--build", build)
        for program in ("shared", "static", "cpp"):
            self.expect_right(build / program)

    def test_cmake_finds_it_from_a_project_of_cpp_alone(self):
        for _ in range(2):  # the second time with what the first one left in the cache
            self.configure(self.scratch / "cpp", "-DLANGUAGES=CXX")

    def test_cmake_refuses_another_mpi_than_that_of_the_build(self):
        for mpicc in ("mpicc.openmpi", "mpicc.mpich"):
            if mpicc in MPICC or not shutil.which(mpicc):
                continue
            with self.assertRaises(AssertionError) as refused:
                self.configure(self.scratch / mpicc, f"-DMPI_C_COMPILER={mpicc}")
            text = " ".join(str(refused.exception).split())
            self.assertIn(f"built with the MPI of {MPICC}, but MPI_C_COMPILER is {mpicc}", text)

    def test_pkg_config_tells_how_to_compile_and_link(self):
        environment = os.environ | {"PKG_CONFIG_PATH": str(self.lib / "pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", "plait", env=environment).split()
        self.assertEqual(run("pkg-config", "--variable=mpicc", "plait", env=environment).strip(), MPICC)
        program = self.scratch / "by_hand"
        run(MPICC, "-std=c11", SOURCE / "examples/redistribute.c", "-o", program, *flags, f"-Wl,-rpath,{self.lib}")
        self.expect_right(program)

    def test_the_command_finds_the_libraries_beside_it(self):
        libraries = [*self.prefix.rglob("mca_op_plait.so"), *self.prefix.rglob("libplait_reduce.so")]
        self.assertTrue(libraries)
        text = run(self.prefix / "bin/plait", "exec", "--print")
        for library in libraries:
            self.assertIn(str(library.parent), text)

    def test_the_shared_library_shows_nothing_but_the_c_api(self):
        symbols = [line.split()[-1] for line in run("nm", "-D", "--defined-only", self.lib / "libplait.so").splitlines()]
        self.assertIn("plait_execute", symbols)
        self.assertEqual([symbol for symbol in symbols if not symbol.startswith("plait_")], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
