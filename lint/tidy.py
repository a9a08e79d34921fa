"""clang-tidy on the library's and the command's sources, two at a time or one for each core.

It takes some seconds a file, most of them for the headers of others. So sources that are compiled alike are first looked
at as one. Where anything is found in the whole, if only that the sources don't compile as one, its halves are looked at,
and in the end each source for itself: groups acquit, and never convict.

A file that passed is not looked at again until something changed that it depends on: itself, a header of the project that
it includes, its compiler options, the checks, or clang-tidy.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import groupby
from pathlib import Path

from source import Violation, includes_of

CLANG_TIDY = "clang-tidy-19"
EXTRA_ARGUMENTS = [
    "-Wno-unknown-warning-option",  # the compiler is g++
    "-Wno-deprecated-declarations",  # g++ tells of ours, clang only adds those inside of libstdc++
    "-Wno-ignored-gch",  # tests that compile sources of src/ have g++'s precompiled header: clang reads the header itself
    # The analyzer's search is cut at a tenth of the usual states, which takes half as long.
    *("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=20000"),
]
OPTIONS = ("-D", "-I", "-f", "-m", "-std")  # that change what a source means
INCLUDE_FOLDERS = ("src", "tests", "")
INCLUDE = re.compile(r'^#include ([<"][^">]+[">])[^\n]*', re.MULTILINE)
LARGEST_GROUP = 12  # files: enough for the headers not to matter, and small enough for all cores to have some
DIAGNOSTIC = re.compile(r"^(/.+?):(\d+):\d+: (?:error|warning): (.*)$", re.MULTILINE)


def check_tidy(root: Path, build: Path, files: list[Path]) -> list[Violation]:
    commands = compile_commands(build)
    options = {path: options_of(words) for path, words in commands.items()}
    cached = root / "build/lint/tidy"
    cached.mkdir(parents=True, exist_ok=True)
    tool = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, text=True, check=True).stdout
    settings = "\0".join([tool, *EXTRA_ARGUMENTS, (root / ".clang-tidy").read_text()])
    keys = {}
    for path in files:
        if (root / path) in options:
            keys[path] = key_of(root, path, settings + options[root / path])
    stale = [path for path, key in keys.items() if not (cached / key).exists()]

    def judged(group: list[Path]) -> dict[Path, list[Violation]]:
        if len(group) == 1:
            return {group[0]: tidy(root, build, group[0])}
        if tidy_whole(root, group, commands[root / group[0]]):
            return {path: [] for path in group}
        half = len(group) // 2
        return judged(group[:half]) | judged(group[half:])

    violations = set()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for results in pool.map(judged, groups_of(root, stale, options)):
            for path, found in results.items():
                violations.update(found)
                if not found:
                    (cached / keys[path]).touch()
    return sorted(violations)


def compile_commands(build: Path) -> dict[Path, list[str]]:
    commands = json.loads((build / "compile_commands.json").read_text())
    return {Path(entry["file"]): entry.get("arguments") or shlex.split(entry["command"]) for entry in commands}


def options_of(words: list[str]) -> str:
    """How a source is compiled, without what depends on the place of the build folder."""
    return " ".join(word for word in words if word.startswith(OPTIONS))


def groups_of(root: Path, files: list[Path], options: dict[Path, str]) -> list[list[Path]]:
    """The files by what they are compiled with, those of vector kernels, which include themselves, each alone."""

    def kind(path: Path) -> tuple[str, str]:
        return (options[root / path], str(path) if "HWY_TARGET_INCLUDE" in (root / path).read_text() else "")

    groups = []
    for _, alike in groupby(sorted(files, key=lambda path: (*kind(path), path)), kind):
        members = list(alike)
        count = -(-len(members) // LARGEST_GROUP)
        groups += [members[i::count] for i in range(count)]
    return sorted(groups, key=len, reverse=True)  # the longest first, lest the last core has it


def whole_of(texts: list[str]) -> str:
    """The sources one after the other. What several of them include is no duplicate, what one of them repeats is."""
    whole, included = [], set()
    for text in texts:
        own = set()

        def once(match: re.Match) -> str:
            header = match[1]
            again = header in included and header not in own
            own.add(header)
            return "" if again else match[0]

        whole.append(INCLUDE.sub(once, text))
        included |= own
    return "\n".join(whole)


def tidy_whole(root: Path, group: list[Path], command: list[str]) -> bool:
    """Whether nothing at all is found in the group."""
    folder = root / "build/lint/groups" / hashlib.sha256("\0".join(map(str, group)).encode()).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / group[0].name
    source.write_text(whole_of([(root / path).read_text() for path in group]))
    words = [str(source) if word == str(root / group[0]) else word for word in command]
    entry = {"directory": str(root), "file": str(source), "arguments": words}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    return not tidy(root, folder, source)


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
