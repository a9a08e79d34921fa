"""clang-tidy on the library's and the command's sources, two at a time or one for each core.

It takes some seconds a file, so a file that passed is not looked at again until something changed that it depends on:
itself, a header of the project that it includes, its compiler options, the checks, or clang-tidy.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from source import Violation, includes_of

CLANG_TIDY = "clang-tidy-19"
EXTRA_ARGUMENTS = [
    "-Wno-unknown-warning-option",  # the compiler is g++
    "-Wno-deprecated-declarations",  # g++ tells of ours, clang only adds those inside of libstdc++
    # The analyzer's search is cut at a tenth of the usual states, which takes half as long.
    *("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=20000"),
]
OPTIONS = ("-D", "-I", "-f", "-m", "-std")  # that change what a source means
INCLUDE_FOLDERS = ("src", "tests", "")
DIAGNOSTIC = re.compile(r"^(/.+?):(\d+):\d+: (?:error|warning): (.*)$", re.MULTILINE)


def check_tidy(root: Path, build: Path, files: list[Path]) -> list[Violation]:
    options = compiler_options(build)
    cached = root / "build/lint/tidy"
    cached.mkdir(parents=True, exist_ok=True)
    tool = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, text=True, check=True).stdout
    settings = "\0".join([tool, *EXTRA_ARGUMENTS, (root / ".clang-tidy").read_text()])
    keys = {}
    for path in files:
        if (root / path) in options:
            keys[path] = key_of(root, path, settings + options[root / path])
    stale = [path for path, key in keys.items() if not (cached / key).exists()]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda path: tidy(root, build, path), stale)
    violations = set()
    for path, found in zip(stale, results):
        violations.update(found)
        if not found:
            (cached / keys[path]).touch()
    return sorted(violations)


def compiler_options(build: Path) -> dict[Path, str]:
    """How each source is compiled, without what depends on the place of the build folder."""
    commands = json.loads((build / "compile_commands.json").read_text())
    options = {}
    for command in commands:
        words = command.get("arguments") or shlex.split(command["command"])
        options[Path(command["file"])] = " ".join(word for word in words if word.startswith(OPTIONS))
    return options


def key_of(root: Path, path: Path, settings: str) -> str:
    digest = hashlib.sha256(settings.encode())
    for file in sorted({path, *dependencies(root, path)}):
        digest.update(f"\0{file}\0".encode() + (root / file).read_bytes())
    return digest.hexdigest()


def dependencies(root: Path, path: Path) -> set[Path]:
    """The headers of the project that `path` includes, by way of others too."""
    reached, open_ends = set(), [path]
    while open_ends:
        for header in direct_dependencies(root, open_ends.pop()):
            if header not in reached:
                reached.add(header)
                open_ends.append(header)
    return reached


@cache
def direct_dependencies(root: Path, path: Path) -> list[Path]:
    found = []
    for _, include, _ in includes_of((root / path).read_text(errors="replace")):
        for folder in (*INCLUDE_FOLDERS, path.parent):
            if (root / folder / include).is_file():
                found.append(Path(os.path.normpath(Path(folder) / include)))
                break
    return found


def tidy(root: Path, build: Path, path: Path) -> list[Violation]:
    extra = [f"--extra-arg={argument}" for argument in EXTRA_ARGUMENTS]
    command = [CLANG_TIDY, "--quiet", "-p", str(build), *extra, str(path)]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    found = []
    for file, line, text in DIAGNOSTIC.findall(run.stdout):
        found.append(Violation(os.path.relpath(file, root), int(line), text))
    if run.returncode != 0 and not found:
        found.append(Violation(str(path), 1, f"{CLANG_TIDY} failed: {run.stdout}{run.stderr}"))
    return found
