"""Each check finds what it is for, and leaves alone what looks like it."""

import json
import tempfile
import unittest
from pathlib import Path

from clang import check_clang
from format import check_format
from jobs import check_jobs
from layers import LEVEL, PART_LEVEL, TOP, check_headers, check_layers
from picture import check_picture, drawing
from source import code_of, cpp_files
from tidy import check_tidy, whole_of
from words import check_words

ROOT = Path(__file__).resolve().parent.parent


class Tree(unittest.TestCase):
    """A tree of files in a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def found(self, check, *arguments) -> list[str]:
        return [str(violation) for violation in check(self.root, *arguments, cpp_files(self.root))]


class Jobs(Tree):
    NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")

    def setUp(self):
        super().setUp()
        self.write("src/cli/jobs/jobs.cpp", "#define JOBS(JOB) \\\n" + "".join(f"  JOB({name}) \\\n" for name in self.NAMES))
        for name in self.NAMES:
            self.write(f"src/cli/jobs/{name}.cpp", "")

    def found_jobs(self) -> list[str]:
        return [str(violation) for violation in check_jobs(self.root)]

    def test_every_row_has_a_file_and_every_file_a_row(self):
        self.assertEqual(self.found_jobs(), [])
        self.write("src/cli/jobs/zeta.cpp", "")
        (self.root / "src/cli/jobs/beta.cpp").unlink()
        self.assertEqual(len(self.found_jobs()), 2)

    def test_there_is_no_second_list(self):
        self.write("tests/a.py", "# alpha and beta\nCOMMANDS = ['alpha', 'gamma']\n")
        self.assertEqual(self.found_jobs(), [])
        for text in ('COMMANDS = ["alpha", "gamma",\n  "delta"]', "expected alpha, beta or epsilon", "add(alpha.cpp beta.cpp)\nalpha\nbeta delta"):
            self.write("tests/a.py", f"\n{text}\n")
            self.assertEqual(len(self.found_jobs()), 1)


class Layers(Tree):
    def found_in(self, path: str, include: str) -> list[str]:
        self.write(path, f"#pragma once\n#include {include}\n")
        return self.found(check_layers)

    def test_an_upper_layer_includes_a_lower_one_and_not_the_other_way_round(self):
        self.assertEqual(self.found_in("src/plait/mpi/a.hpp", '"plait/layout/b.hpp"'), [])
        self.assertEqual(
            self.found_in("src/plait/mpi/a.hpp", '"plait/schedule/b.hpp"'),
            ["src/plait/mpi/a.hpp:2: mpi/ must not include schedule/, which is not under it"],
        )

    def test_neighbours_do_not_know_each_other_but_redistribution_uses_collectives(self):
        self.assertEqual(len(self.found_in("src/plait/simd/a.cpp", '"plait/layout/b.hpp"')), 1)
        self.assertEqual(self.found_in("src/plait/simd/a.cpp", '"plait/simd/b.hpp"'), [])
        self.assertEqual(self.found_in("src/plait/redistribute/a.cpp", '"plait/collective/b.hpp"'), [])
        self.assertEqual(len(self.found_in("src/plait/collective/b.cpp", '"plait/redistribute/a.hpp"')), 1)

    def test_of_the_solvers_only_purification_uses_dense(self):
        self.assertEqual(self.found_in("src/plait/purify/a.cpp", '"plait/dense/b.hpp"'), [])
        self.assertEqual(len(self.found_in("src/plait/sinkhorn/a.cpp", '"plait/dense/b.hpp"')), 1)

    def test_parts_of_a_folder_have_layers_of_their_own(self):
        self.assertEqual(self.found_in("src/plait/sinkhorn/scaling/a.cpp", '"plait/sinkhorn/sweep/b.hpp"'), [])
        self.assertEqual(
            self.found_in("src/plait/sinkhorn/sweep/a.cpp", '"plait/sinkhorn/scaling/b.hpp"'),
            ["src/plait/sinkhorn/sweep/a.cpp:2: sinkhorn/sweep/ must not include sinkhorn/scaling/, which is not under it"],
        )
        self.assertEqual(len(self.found_in("src/plait/sinkhorn/sweep/a.cpp", '"plait/sinkhorn/exchange/b.hpp"')), 1)
        self.assertIn("not in the table", self.found_in("src/plait/sinkhorn/b/d.cpp", '"plait/sinkhorn/grid/b.hpp"')[0])

    def test_parts_of_the_command_have_layers_too(self):
        self.assertEqual(self.found_in("src/cli/trace/a.cpp", '"cli/host/b.hpp"'), [])
        self.assertEqual(self.found_in("src/cli/main.cpp", '"cli/trace/b.hpp"'), [])
        self.assertEqual(
            self.found_in("src/cli/host/a.cpp", '"cli/trace/b.hpp"'),
            ["src/cli/host/a.cpp:2: cli/host/ must not include cli/trace/, which is not under it"],
        )
        self.assertIn("stands above it", self.found_in("src/cli/trace/b.cpp", '"cli/guard.hpp"')[-1])

    def test_the_picture_shows_every_folder_of_the_library_and_no_other(self):
        self.write("docs/layers.svg", drawing())
        for folder in LEVEL:
            self.write(f"src/plait/{folder}/a.hpp", "")
        self.assertEqual(check_picture(self.root), [])
        self.write("src/plait/odd/a.hpp", "")
        (self.root / "src/plait/halo").rename(self.root / "src/plait/odder")
        self.write("docs/layers.svg", "")
        found = sorted(violation.why for violation in check_picture(self.root))
        self.assertEqual([why.split()[-1] for why in found], ["src/plait/odd", "src/plait/odder", "lint/picture.py", "there"])

    def test_a_folder_that_is_not_in_the_table_is_a_violation(self):
        self.assertIn("not in the table", self.found_in("src/plait/utils/a.cpp", "<vector>")[0])

    def test_the_library_does_not_know_what_is_built_on_it_nor_do_those_know_each_other(self):
        self.write("src/cli/options.hpp", "#pragma once\n")
        self.assertEqual(len(self.found_in("src/plait/io/a.cpp", '"cli/options.hpp"')), 1)
        self.assertEqual(len(self.found_in("src/capi/b.cpp", '"cli/options.hpp"')), 2)

    def test_a_header_of_the_project_is_named_from_src(self):
        self.write("src/plait/mpi/b.hpp", "#pragma once\n")
        self.assertIn("name it by its path", self.found_in("src/plait/base/a.cpp", '"../mpi/b.hpp"')[0])

    def test_a_header_that_is_included_is_there(self):
        self.write("src/plait/mpi/context.hpp", "#pragma once\n")
        self.write("bench/a.cpp", '#include "plait/mpi/context.hpp"\n#include "fmt/core.h"\n')
        self.write("bench/b.cpp", '#include <vector>\n#include "plait/context.hpp"\n')
        self.assertEqual(self.found(check_headers), ['bench/b.cpp:2: there is no "plait/context.hpp"'])

    def test_a_comment_includes_nothing(self):
        self.write("src/plait/base/a.cpp", '// #include "plait/mpi/b.hpp"\n/*\n#include "plait/mpi/b.hpp"\n*/\n')
        self.assertEqual(self.found(check_layers), [])

    def test_every_folder_of_the_library_has_a_level(self):
        folders = {path.name for path in (ROOT / "src/plait").iterdir() if path.is_dir()}
        self.assertLessEqual(folders, set(LEVEL))
        for folder, levels in PART_LEVEL.items():
            place = ROOT / "src" / folder if folder in TOP else ROOT / "src/plait" / folder
            parts = {path.name for path in place.iterdir() if path.is_dir()}
            self.assertEqual(parts, set(levels))


class Words(Tree):
    def expect(self, why: str, *lines: str, path: str = "src/plait/io/a.cpp") -> None:
        for line in lines:
            with self.subTest(line=line, path=path):
                self.write(path, f"\n{line}\n")
                found = self.found(check_words)
                if why:
                    self.assertEqual(len(found), 1, found)
                    self.assertTrue(found[0].startswith(f"{path}:2: {why}"), found)
                else:
                    self.assertEqual(found, [])
                (self.root / path).unlink()

    def test_the_world_is_not_named_in_the_library_not_even_in_a_comment(self):
        self.expect("MPI_COMM_WORLD", "f(MPI_COMM_WORLD);", "// MPI_COMM_WORLD", path="src/plait/mpi/a.cpp")
        self.expect("", "f(MPI_COMM_WORLD);", path="src/cli/a.cpp")

    def test_words_are_those_that_people_use(self):
        self.expect("a word that nobody uses", "// Makes it anew.", 'f("the how-manieth it is");', "/// What came of it.")
        self.expect("", "// Made again; canewdon.")

    def test_only_the_mpi_folder_calls_mpi(self):
        self.expect("a call of MPI", "MPI_Wait(&r, &s);", "auto t = MPI_Wtime();", "PMPI_Send (x);")
        self.expect("mpi.h", "#include <mpi.h>", '#include "mpi.h"')
        self.expect("", "MPI_Comm comm;", "// as MPI_Wait() does", 'f("MPI_Wait()");', "f(MPI_SUM);")
        self.expect("", "#include <mpi.h>", "MPI_Wait(&r, &s);", path="src/plait/mpi/a.cpp")

    def test_the_library_does_not_print(self):
        self.expect("printing", 'printf("x");', 'std::puts("x");', "std::cout << 1;", 'fmt::print("x");')
        self.expect("printing", 'fprintf(stderr, "x");', 'std::fputs("x", stdout);')
        self.expect("iostream", "#include <iostream>")
        self.expect("", "std::snprintf(b, n, f);", "report.printf(f);", "// std::cout", 'f("std::cout");')
        self.expect("", "std::cout << 1;", path="src/cli/a.cpp")

    def test_the_library_does_not_end_the_program(self):
        self.expect("ending the program", "exit(1);", "std::abort();", "::_exit(3);", "std::terminate();")
        self.expect("", "queue.exit();", "at_exit(f);", "scope->abort();", "Guard::exit();")

    def test_nothing_is_left_for_later(self):
        self.expect("a note", "// TODO: more", "// FIXME", path="tests/unit/io/a.cpp")

    def test_a_header_has_its_guard(self):
        self.write("src/plait/io/a.hpp", "int f();\n")
        self.assertEqual(self.found(check_words), ["src/plait/io/a.hpp:1: a header without #pragma once"])


class Code(unittest.TestCase):
    def test_comments_and_strings_become_blanks_and_lines_stay(self):
        self.assertEqual(code_of('a "b//c" d // e\nf'), "a        d     \nf")
        self.assertEqual(code_of("a /* b\nc */ d"), "a     \n     d")
        self.assertEqual(code_of('R"x(a)" b)x" c'), "             c")
        self.assertEqual(code_of("1'000'000 + '\"' + 2"), "1'000'000 +     + 2")


class Tools(Tree):
    def test_a_file_that_is_not_formatted_is_named_with_its_remedy(self):
        self.write(".clang-format", (ROOT / ".clang-format").read_text())
        self.write("src/good.cpp", "int f() { return 1; }\n")
        self.write("src/bad.cpp", "int  f( ){return 1;}\n")
        found = self.found(check_format)
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("src/bad.cpp:1: not formatted"), found)

    def compiled(self, **texts: str) -> None:
        """Sources of these names in src, all of them compiled in the same way."""
        commands = []
        for name, text in texts.items():
            source = self.root / f"src/{name}.cpp"
            self.write(f"src/{name}.cpp", text)
            commands.append({"directory": str(self.root), "file": str(source), "command": f"c++ -std=c++20 -c {source}"})
        self.write("build/x/compile_commands.json", json.dumps(commands))

    def test_clang_tidy_finds_a_mistake_again_and_again_until_it_is_mended(self):
        self.write(".clang-tidy", "Checks: bugprone-*\nWarningsAsErrors: '*'\n")
        self.compiled(a="int f(int a) {\n  if (a) return 1; else return 1;\n}\n")
        for _ in range(2):
            found = self.found(check_tidy, self.root / "build/x")
            self.assertEqual(len(found), 1, found)
            self.assertIn("bugprone-branch-clone", found[0])
        self.write("src/a.cpp", "int f(int a) { return a; }\n")
        self.assertEqual(self.found(check_tidy, self.root / "build/x"), [])

    def test_clang_tidy_names_the_file_of_a_group_that_a_mistake_is_in(self):
        self.write(".clang-tidy", "Checks: bugprone-*,clang-analyzer-core.*\nWarningsAsErrors: '*'\n")
        self.compiled(
            a="int f(int a) { return a; }\n",
            b="int g(const int* a) {\n  if (a != nullptr) return 0;\n  return *a;\n}\n",
            c="int h(int a) { return a; }\n",
        )
        found = self.found(check_tidy, self.root / "build/x")
        self.assertEqual([violation.split(": ")[0] for violation in found], ["src/b.cpp:3"], found)

    def test_sources_that_cannot_be_compiled_together_are_no_violation(self):
        self.write(".clang-tidy", "Checks: bugprone-*\nWarningsAsErrors: '*'\n")
        self.compiled(a="static int n() { return 1; }\nint f() { return n(); }\n",
                      b="static int n() { return 2; }\nint g() { return n(); }\n")  # fmt: skip
        self.assertEqual(self.found(check_tidy, self.root / "build/x"), [])


class Clang(Tree):
    def lines_found(self, body: str) -> list[int]:
        self.write("src/a.cpp", f"void f() {{\n{body}\n}}\n")
        return [int(violation.split(":")[1]) for violation in self.found(check_clang)]

    def test_names_of_bindings_are_not_used_in_lambdas(self):
        self.assertEqual(self.lines_found("auto [a, b] = g();\nh([&] {\n  k(b);\n});"), [4])
        self.assertEqual(self.lines_found("for (const auto& [a, b] : all) {\nh([&](int i) { return i + a; });\n}"), [3])
        self.assertEqual(self.lines_found("for (auto [a, b] : all) h([&] { return a; });"), [2])

    def test_what_only_looks_like_one_is_left_alone(self):
        for body in (
            "auto [a, b] = g();\nh([&, a = a] { return a; });",
            "auto [a, b] = g();\nh([&](int a) { return a; });",
            "auto [a, b] = g();\nh([&] { auto [a, c] = g(); return a + x.b; });",
            "for (auto [a, b] : all) {\nk(a);\n}\nint a = 0;\nh([&] { return a; });",
            "auto [a, b] = g();\nk(array[b]);",
        ):
            self.assertEqual(self.lines_found(body), [], body)


class Groups(unittest.TestCase):
    def test_a_header_that_several_include_is_no_duplicate_but_what_one_repeats_is(self):
        whole = whole_of(["#include <a>\n#include <b>\n", "#include <a>\n#include <c>\n", "#include <b>\n#include <b>\n"])
        self.assertEqual(whole.split(), "#include <a> #include <b> #include <c> #include <b>".split())


if __name__ == "__main__":
    unittest.main()
