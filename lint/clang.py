"""What g++ takes and clang 14, the oldest clang that plait is for, refuses: names of structured bindings in lambdas."""

import re
from pathlib import Path

from source import Violation, code_of, line_at

BINDING = re.compile(r"\bauto\s*&{0,2}\s*\[([\w\s,]+)\]\s*(:?)")
LAMBDA = re.compile(r"(?<![\w\])])\[([^\[\]]*)\]\s*(?=[({])")


def end_of(code: str, begin: int) -> int:
    """Behind the bracket that closes the one just before `begin`."""
    depth = 1
    for bracket in re.compile(r"[(){}]").finditer(code, begin):
        depth += 1 if bracket[0] in "({" else -1
        if depth == 0:
            return bracket.end()
    return len(code)


def scope_end(code: str, begin: int, of_loop: bool) -> int:
    """The end of the scope of what is declared before `begin`: as a statement, or in the head of a loop."""
    end = end_of(code, begin)
    if not of_loop:
        return end
    body = re.compile(r"\s*").match(code, end).end()
    return end_of(code, body + 1) if code[body : body + 1] == "{" else code.find("\n", body)


def captured_bindings(code: str) -> list[tuple[int, str]]:
    """(line, name) of the first use, in each lambda, of each name that a structured binding outside of it declares."""
    found = []
    for binding in BINDING.finditer(code):
        end = scope_end(code, binding.end(), binding[2] == ":")
        for start in LAMBDA.finditer(code, binding.end(), end):
            parameters = end_of(code, start.end() + 1) if code[start.end()] == "(" else start.end()
            body = code.find("{", parameters)
            inside = code[body : end_of(code, body + 1)]
            own = re.findall(r"(\w+)\s*=", start[1]) + re.findall(r"(\w+)\s*[,)]", code[start.end() : parameters])
            for name in re.findall(r"\w+", binding[1]):
                use = re.search(rf"(?<![\w.>:]){name}\b", inside)
                declared = re.search(rf"(?:\b(?!return\b)\w+|[>&*])\s+[&*]?{name}\s*[=;{{(:,]|\[[\w\s,]*\b{name}\b[\w\s,]*\]\s*[=:]", inside)
                if use and name not in own and not declared:
                    found.append((line_at(code, body + use.start()), name))
    return found


def check_clang(root: Path, files: list[Path]) -> list[Violation]:
    why = "of a structured binding within a lambda: clang 14 takes none; name it in the capture list"
    violations = {
        Violation(path.as_posix(), line, f"'{name}' {why}")
        for path in files
        for line, name in captured_bindings(code_of((root / path).read_text(errors="replace")))
    }
    return sorted(violations)
