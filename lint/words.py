"""What must not stand in a file, by where the file is."""

import re
from dataclasses import dataclass
from pathlib import Path

from source import Violation, code_of, line_at


@dataclass(frozen=True)
class Rule:
    pattern: re.Pattern
    why: str
    within: tuple[str, ...]  # the beginnings of the paths that it holds for
    without: tuple[str, ...] = ()
    comments: bool = False  # holds for comments and strings as well


def called(*functions: str) -> re.Pattern:
    """A call of one of the functions, plain or of std, that is not a method of something else."""
    return re.compile(rf"(?<![\w.>:])(?:std::|::)?(?:{'|'.join(functions)})\s*\(")


LIBRARY = ("src/plait/",)

RULES = [
    Rule(
        re.compile(r"\bMPI_COMM_WORLD\b"),
        "MPI_COMM_WORLD: the library is given a communicator",
        LIBRARY,
        comments=True,
    ),
    Rule(
        re.compile(r'#\s*include\s*[<"]mpi\.h[>"]'),
        "mpi.h: only src/plait/mpi includes it",
        LIBRARY,
        without=("src/plait/mpi/",),
    ),
    Rule(
        re.compile(r"\bP?MPI_[A-Z][a-z]\w*\s*\("),
        "a call of MPI: only src/plait/mpi makes one",
        LIBRARY,
        without=("src/plait/mpi/",),
    ),
    Rule(
        called("printf", "vprintf", "puts", "putchar", "perror"),
        "printing: the library never does",
        LIBRARY,
    ),
    Rule(
        re.compile(r"\bstd::(?:cout|cerr|clog|wcout|wcerr)\b|\b(?:stdout|stderr)\b|\bfmt::print(?:ln)?\b"),
        "printing: the library never does",
        LIBRARY,
    ),
    Rule(re.compile(r"#\s*include\s*<iostream>"), "iostream: the library never prints", LIBRARY),
    Rule(
        called("exit", "_exit", "_Exit", "quick_exit", "abort", "terminate"),
        "ending the program: the library throws",
        LIBRARY,
    ),
    Rule(
        re.compile(r"\bstd::ranges::(?:unique|rotate|remove(?:_if)?|(?:stable_)?partition|equal_range|search)\(|\bviews::reverse\b"),
        "a range of g++ 12's library that clang 14 can't take: use iterators",
        ("src/", "tests/", "bench/", "examples/"),
    ),
    Rule(
        re.compile(r"\b(?:anew|how-manieth|what came of|since when)\b", re.IGNORECASE),
        "a word that nobody uses: again, index, result, after what",
        ("src/", "tests/", "bench/", "examples/"),
        comments=True,
    ),
    Rule(
        re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b"),
        "a note to oneself: do it, or write down why it is so",
        ("src/", "tests/", "bench/", "examples/", "python/"),
        comments=True,
    ),
]


def check_words(root: Path, files: list[Path]) -> list[Violation]:
    violations = []
    for path in files:
        name = path.as_posix()
        rules = [rule for rule in RULES if name.startswith(rule.within) and not name.startswith(rule.without)]
        if not rules:
            continue
        text = (root / path).read_text(errors="replace")
        code = code_of(text)
        for rule in rules:
            for match in rule.pattern.finditer(text if rule.comments else code):
                violations.append(Violation(name, line_at(text, match.start()), rule.why))
        if path.suffix in {".hpp", ".h"} and "#pragma once" not in code and name.startswith("src/"):
            violations.append(Violation(name, 1, "a header without #pragma once"))
    return violations
