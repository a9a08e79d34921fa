"""Reading the tree: which files there are, and C++ without its comments and strings."""

import re
from dataclasses import dataclass
from pathlib import Path

CPP_SUFFIXES = {".cpp", ".hpp", ".c", ".h"}
CODE_FOLDERS = ("src", "tests", "bench", "examples", "python")


@dataclass(frozen=True, order=True)
class Violation:
    path: str
    line: int
    why: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.why}"


def cpp_files(root: Path) -> list[Path]:
    """All C and C++ files of the project, relative to its root."""
    found = (path for folder in CODE_FOLDERS for path in (root / folder).rglob("*"))
    return sorted(path.relative_to(root) for path in found if path.suffix in CPP_SUFFIXES and path.is_file())


TOKEN = re.compile(
    r"""//(?:[^\n\\]|\\.)*               # a comment to the end of the line
      | /\*.*?\*/                        # a comment
      | R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"      # a raw string
      | "(?:[^"\\\n]|\\.)*"              # a string
      | (?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'   # a character; not the separator of 1'000
    """,
    re.VERBOSE | re.DOTALL,
)


def code_of(text: str) -> str:
    """The text with blanks in place of comments and strings, so that lines stay. Includes keep their path."""

    def blank(match: re.Match) -> str:
        line_start = text.rfind("\n", 0, match.start()) + 1
        if match[0][0] == '"' and re.match(r"\s*#\s*include\b", text[line_start:]):
            return match[0]
        return re.sub(r"[^\n]", " ", match[0])

    return TOKEN.sub(blank, text)


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def includes_of(code: str) -> list[tuple[int, str, bool]]:
    """(line, path, quoted) of each include in what `code_of` returned."""
    return [(line_at(code, match.start()), match[2], match[1] == '"') for match in INCLUDE.finditer(code)]


def line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
