"""Whether clang-format would change a file."""

import re
import subprocess
from pathlib import Path

from source import Violation

CLANG_FORMAT = "clang-format-19"
FILES_AT_A_TIME = 100


def check_format(root: Path, files: list[Path]) -> list[Violation]:
    violations = {}
    for first in range(0, len(files), FILES_AT_A_TIME):
        names = [str(path) for path in files[first : first + FILES_AT_A_TIME]]
        run = subprocess.run(
            [CLANG_FORMAT, "--dry-run", "-Werror", *names], cwd=root, capture_output=True, text=True, check=False
        )
        places = re.findall(r"^(.+?):(\d+):\d+: error:", run.stderr, re.MULTILINE)
        if run.returncode != 0 and not places:
            raise RuntimeError(f"{CLANG_FORMAT} failed: {run.stderr}")
        for path, line in places:
            # The first place of a file is enough: the remedy is the same for all.
            violations.setdefault(path, Violation(path, int(line), f"not formatted: {CLANG_FORMAT} -i {path}"))
    return list(violations.values())
