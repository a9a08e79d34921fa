"""c_api_page_test.py SOURCE BUILD MPI MPICC MPIFORT MPIEXEC: the programs of docs/c-api.md are compiled and run, and what it
says of names and arguments is held to plait.h and plait.f90. MPIFORT is empty where there is no Fortran."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD, MPI, MPICC, MPIFORT, MPIEXEC = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:7]
CAPI = SOURCE / "src/capi"
PAGE = (SOURCE / "docs/c-api.md").read_text()
HEADER = (CAPI / "plait.h").read_text()
MODULE = re.sub(r"!.*", "", (CAPI / "plait.f90").read_text()).replace("&\n", "")


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


def programs(language: str) -> list[str]:
    """Whole programs; what is a part of one is marked C."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.S | re.M)


def described(name: str) -> list[str]:
    """The arguments of a function or components of a type in the tables; optional ones in brackets."""
    found = re.findall(rf"^\| `{name}\((.*?)\)` \|", PAGE, re.M)
    return found[0].split(", ") if len(found) == 1 and found[0] else found


class Page(unittest.TestCase):
    def expect_right(self, language: str, *compile_words):
        self.assertEqual(len(programs(language)), 4)
        with tempfile.TemporaryDirectory() as scratch:
            for number, text in enumerate(programs(language)):
                source = Path(scratch) / f"program{number}.{ {'c': 'c', 'fortran': 'f90'}[language] }"
                source.write_text(text)
                program = source.with_suffix("")
                words = [word.replace("SCRATCH", scratch) for word in compile_words]
                run(*words, source, "-o", program, f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", f"-lplait-{MPI}", "-lm")
                for ranks in (1, 3):
                    run(MPIEXEC, ranks, program)

    def test_its_programs_in_c_are_right(self):
        self.expect_right("c", MPICC, "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{CAPI}")

    def test_its_programs_in_fortran_are_right(self):
        if MPIFORT:
            self.expect_right("fortran", MPIFORT, "-std=f2018", "-JSCRATCH", str(CAPI / "plait.f90"))

    def test_every_function_has_its_arguments(self):
        functions = re.findall(r"^int (plait_\w+)\(", HEADER, re.M)
        self.assertGreater(len(functions), 80)
        pattern = r"^ *(?:integer\(c_int\) )?function (plait_\w+)\((.*?)\)(.*?)^ *end function"
        of_module = {name: (arguments, body) for name, arguments, body in re.findall(pattern, MODULE, re.S | re.M)}
        for name in set(functions) - {"plait_context_create_f", "plait_permute_f"}:
            arguments, body = of_module[name]
            optional = re.sub(r"\(.*?\)", "", " ".join(re.findall(r"optional :: (.*)", body))).replace(",", " ").split()
            words = [f"[{word}]" if word in optional else word for word in re.split(r",\s*", arguments.strip())]
            self.assertEqual(described(name), words, name)
            of_header = re.search(rf"^int {name}\((.*?)\);", HEADER, re.S | re.M).group(1)
            self.assertEqual([word.strip("[]") for word in words], re.findall(r"(\w+)(?:,|$)", of_header), name)

    def test_every_struct_has_its_members(self):
        types = re.findall(r"^  type, bind\(C\) :: (plait_\w+)\n(.*?)^  end type", MODULE, re.S | re.M)
        self.assertGreater(len(types), 20)
        for name, body in types:
            parts = re.sub(r"\(.*?\)", "", ", ".join(line.split("::", 1)[1] for line in body.splitlines() if "::" in line))
            self.assertEqual(described(name), re.findall(r"(\w+)(?:\s*=[^,]*)?(?:,|$)", parts.strip()), name)
            if name != "plait_tile":
                struct = re.search(rf"^typedef struct {name} {{\n(.*?)^}}", HEADER, re.S | re.M).group(1)
                members = re.findall(r"(\w+)(?=[,;])", re.sub(r"//.*|\[.*?\]", "", struct))
                self.assertEqual(described(name), members, name)

    def test_every_constant_is_there(self):
        constants = re.findall(r"\b(PLAIT_[A-Z0-9_]+) =", HEADER)
        self.assertGreater(len(constants), 80)
        self.assertEqual([name for name in constants if f"`{name}`" not in PAGE], [])
        self.assertEqual([name for name in constants if not re.search(rf"\b{name}\b", MODULE)], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
