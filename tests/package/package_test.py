"""package_test.py SOURCE BUILD MPI MPICC MPIEXEC: installs what was built into a folder of its own, and builds the examples
against it as a user would, by CMake and by pkg-config. MPI is its name in names of files."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD, MPI, MPICC, MPIEXEC = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:6]
OTHER_MPI = {"openmpi": "mpich", "mpich": "openmpi"}[MPI]


def run(*words, **more) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def place(mpicc: str) -> Path:
    return Path(shutil.which(mpicc) or mpicc).resolve()


class Installed(unittest.TestCase):
    scratch = prefix = lib = Path()


def setUpModule():
    Installed.scratch = Path(tempfile.mkdtemp())
    installed = Installed.scratch / "installed"
    run("cmake", "--install", BUILD, "--prefix", installed)
    Installed.prefix = installed.rename(Installed.scratch / "moved")  # nothing depends on where it was put first
    Installed.lib = next(Installed.prefix.rglob(f"libplait-{MPI}.so")).parent


def tearDownModule():
    shutil.rmtree(Installed.scratch)


class Package(Installed):
    @classmethod
    def setUpClass(cls):
        cls.project = cls.scratch / "project"
        cls.project.mkdir()
        shutil.copy(SOURCE / "tests/package/consumer.cmake", cls.project / "CMakeLists.txt")

    def expect_right(self, program: Path):
        for ranks in (1, 2):
            output = run(MPIEXEC, ranks, program)
            self.assertEqual(output.count(": 0 wrong elements"), ranks, output)

    def configure(self, build: Path, *options: str, prefix: Path | None = None) -> str:
        """Which folder's package was found."""
        run("cmake", "-S", self.project, "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={prefix or self.prefix}", f"-DEXAMPLES={SOURCE / 'examples'}", *options)
        return Path(re.search("^plait_DIR:PATH=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)[1]).name

    def test_cmake_finds_all_three_libraries(self):
        build = self.scratch / "build"
        self.configure(build)
        run("cmake", "--build", build)
        for program in ("shared", "static", "cpp"):
            self.expect_right(build / program)

    @unittest.skipUnless(MPI == "openmpi", "the headers are the same with every MPI")
    def test_each_public_header_compiles_alone(self):
        build = self.scratch / "alone"
        self.configure(build)
        alone = [path.stem for path in build.glob("plait_*.cpp")]
        self.assertEqual(sorted(alone), sorted(f"plait_{path.stem}_hpp" for path in (SOURCE / "src/plait").glob("*.hpp")))
        for command in run("ninja", "-C", build, "-t", "commands", "alone").splitlines():
            run("sh", "-c", command, cwd=build)

    def test_cmake_finds_it_from_a_project_of_cpp_alone(self):
        for _ in range(2):  # the second time with what the first one left in the cache
            self.configure(self.scratch / "cpp", "-DLANGUAGES=CXX")

    def test_cmake_refuses_another_mpi_than_that_of_the_build(self):
        other = f"mpicc.{OTHER_MPI}"
        if not shutil.which(other):
            self.skipTest(f"there is no {other}")
        with self.assertRaises(AssertionError) as refused:
            self.configure(self.scratch / "refused", f"-DMPI_C_COMPILER={other}")
        self.assertRegex(str(refused.exception), rf"version: [0-9.]+ for the MPI of \S+, not of {other}")

    def test_cmake_finds_the_build_for_the_mpi_of_the_project(self):
        other = f"mpicc.{OTHER_MPI}"
        if not shutil.which(other):
            self.skipTest(f"there is no {other}")
        both = self.scratch / "both"
        shutil.copytree(self.prefix, both, symlinks=True)
        packages = self.lib.relative_to(self.prefix) / "cmake"
        pretended = shutil.copytree(both / packages / f"plait-{MPI}", both / packages / f"plait-{OTHER_MPI}")
        version = pretended / "plaitConfigVersion.cmake"
        built_with = re.search(r"for the MPI of (\S+),", version.read_text())[1]
        version.write_text(version.read_text().replace(built_with, shutil.which(other)))
        (pretended / "plaitConfig.cmake").write_text("")
        (self.project / "find").mkdir()
        (self.project / "find/CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(find LANGUAGES NONE)\nfind_package(plait REQUIRED)\n")
        system = OTHER_MPI if place("mpicc") == place(other) else MPI
        for mpi, options in ((MPI, [f"-DMPI_C_COMPILER={MPICC}"]), (OTHER_MPI, [f"-DMPI_C_COMPILER={other}"]), (system, [])):
            with self.subTest(options):
                build = Path(tempfile.mkdtemp(dir=self.scratch))
                if mpi == MPI:
                    self.assertEqual(self.configure(build, *options, prefix=both), f"plait-{mpi}")
                else:
                    run("cmake", "-S", self.project / "find", "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={both}", *options)
                    self.assertIn(f"plait-{mpi}\n", (build / "CMakeCache.txt").read_text())

    def test_pkg_config_tells_how_to_compile_and_link(self):
        environment = os.environ | {"PKG_CONFIG_PATH": str(self.lib / "pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", f"plait-{MPI}", env=environment).split()
        self.assertEqual(place(run("pkg-config", "--variable=mpicc", f"plait-{MPI}", env=environment).strip()), place(MPICC))
        program = self.scratch / "by_hand"
        run(MPICC, "-std=c11", SOURCE / "examples/redistribute.c", "-o", program, *flags, f"-Wl,-rpath,{self.lib}")
        self.expect_right(program)

    def test_pkg_config_tells_how_to_compile_and_link_cpp(self):
        environment = os.environ | {"PKG_CONFIG_PATH": str(self.lib / "pkgconfig")}
        flags = run("pkg-config", "--cflags", "--libs", f"plait-cpp-{MPI}", env=environment).split()
        compiler = re.search("^CMAKE_CXX_COMPILER:[A-Z]+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)[1]
        program = self.scratch / "cpp_by_hand"
        run(compiler, SOURCE / "examples/redistribute.cpp", "-o", program, *flags)
        self.expect_right(program)

    def test_the_command_finds_the_libraries_beside_it(self):
        libraries = [*self.prefix.rglob("mca_op_plait.so"), *self.prefix.rglob("libplait_reduce.so")]
        self.assertTrue(libraries)
        for name in ("plait", f"plait.{MPI}"):
            text = run(self.prefix / "bin" / name, "exec", "--print")
            for library in libraries:
                self.assertIn(str(library.parent), text)


class Files(Installed):
    """What builds for several MPIs install into one prefix."""

    def test_only_files_that_are_the_same_for_all_are_called_the_same(self):
        for path in self.prefix.rglob("*"):
            name = path.relative_to(self.prefix)
            if path.is_dir() or MPI in str(name) or name == Path("bin/plait"):
                continue
            folder = "src/capi" if len(name.parts) == 2 else "src"
            self.assertEqual(path.read_bytes(), (SOURCE / folder / name.relative_to("include")).read_bytes())

    def test_headers_that_no_public_one_needs_are_not_among_them(self):
        installed = {path.relative_to(self.prefix / "include") for path in (self.prefix / "include").rglob("*.hpp")}
        public = {path for path in installed if len(path.parts) == 2}
        self.assertEqual({path.stem for path in public}, {path.stem for path in (SOURCE / "src/plait").glob("*.hpp")})
        needed = set(public)
        for path in installed:
            needed |= {Path(name) for name in re.findall('^#include "(plait/[^"]+)"', (SOURCE / "src" / path).read_text(), re.M)}
        self.assertEqual(installed, needed)
        self.assertNotIn(Path("plait/mpi/predefined.hpp"), installed)
        of_contributors = SOURCE / "docs/add-a-job.md"  # builds in the tree
        for page in {*SOURCE.glob("docs/**/*.md"), *SOURCE.glob("examples/*.cpp")} - {of_contributors}:
            shown = re.findall(r'^#include [<"](plait/[^>"]+\.hpp)', page.read_text(), re.M)
            self.assertLessEqual({Path(name) for name in shown}, public, page)

    def test_what_pages_show_of_cpp_is_in_public_headers(self):
        text = "".join(path.read_text() for path in (self.prefix / "include").rglob("*.hpp"))
        for page in [SOURCE / "README.md", *SOURCE.glob("docs/*.md")]:
            for snippet in re.findall("^```cpp\n(.*?)^```$", page.read_text(), re.M | re.S):
                for name in re.findall(r"\bplait::(?:\w+::)+(\w+)", snippet):
                    self.assertRegex(text, rf"\b{name}\b", page)

    def test_the_short_name_of_the_command_is_that_of_the_first_and_of_none_in_packages(self):
        link = self.prefix / "bin/plait"
        self.assertEqual(os.readlink(link), f"plait.{MPI}")
        taken = self.scratch / "taken"
        (taken / "bin").mkdir(parents=True)
        (taken / "bin/plait").write_text("another's")
        run("cmake", "--install", BUILD, "--prefix", taken)
        self.assertEqual((taken / "bin/plait").read_text(), "another's")
        run("cmake", "--install", BUILD, "--prefix", "/usr", env=os.environ | {"DESTDIR": str(self.scratch / "staged")})
        self.assertEqual([path.name for path in (self.scratch / "staged/usr/bin").iterdir()], [f"plait.{MPI}"])


class Symbols(Installed):
    def shown_by(self, library: Path) -> set[str]:
        return {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()}

    def test_the_shared_library_shows_the_c_api_and_nothing_else(self):
        header = re.sub("//.*", "", (self.prefix / "include/plait.h").read_text())
        self.assertEqual(self.shown_by(self.lib / f"libplait-{MPI}.so"), set(re.findall(r"\b(plait_\w+)\(", header)))

    def test_the_library_of_reductions_shows_what_it_intercepts_and_nothing_else(self):
        shown = self.shown_by(self.lib / f"plait/{MPI}/libplait_reduce.so")
        self.assertLess({"MPI_Allreduce", "MPI_Reduce_local"}, shown)
        self.assertEqual({name for name in shown if not re.fullmatch(r"(?i:mpix?_\w+)|ompix?_\w+_f", name)}, {"plait_tells_settings"})

    def test_the_library_of_scalapack_s_routines_shows_them_and_nothing_else(self):
        shown = {re.sub("^plait_", "", name.lower()).rstrip("_") for name in self.shown_by(self.lib / f"plait/{MPI}/libplait_scalapack.so")}
        expected = {c + f"p{t}{name}" for c in ("", "c") for t in "isdcz" for name in ("gemr2d", "trmr2d")}
        expected |= {f"p{t}{name}" for t in "sdcz" for name in ("geadd", "tradd", "gemm")}
        self.assertEqual(shown, expected | {"pstran", "pdtran", "pctranu", "pctranc", "pztranu", "pztranc"})

    def test_the_component_of_open_mpi_shows_what_it_looks_up_and_nothing_else(self):
        for library in self.prefix.rglob("mca_op_plait.so"):
            self.assertEqual(self.shown_by(library), {"mca_op_plait_component"})

    def test_libraries_that_the_static_ones_are_linked_into_do_not_show_plait(self):
        for archive in (f"libplait-{MPI}.a", f"libplait_c-{MPI}.a"):
            symbols = [line.split() for line in run("readelf", "-sW", self.lib / archive).splitlines()]
            visible = {s[7] for s in symbols if len(s) == 8 and s[4] in ("GLOBAL", "WEAK") and s[5] == "DEFAULT" and s[6] != "UND"}
            self.assertEqual([name for name in visible if re.match("_Z[A-Z]*N?K?5plait", name)], [])
            self.assertEqual("plait_execute" in visible, "_c" in archive)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
