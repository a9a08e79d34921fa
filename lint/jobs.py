"""The subcommands of `plait` are the rows of src/cli/jobs/jobs.cpp: each is a file beside it, and nobody else lists them."""

import re
from pathlib import Path

from source import Violation, line_at

FOLDER = Path("src/cli/jobs")
LIST = FOLDER / "jobs.cpp"
ROW = re.compile(r"^\s*JOB\((\w+)\)", re.MULTILINE)
LOOKED_AT = ("src/cli/**/*.?pp", "tests/**/*.py", "tests/**/*.cpp", "lint/*.py", "dev.d/*", "dev", "**/CMakeLists.txt", "cmake/*")
SHARE = 0.6  # of the rows: as many names in a row are a list of them


def check_jobs(root: Path) -> list[Violation]:
    if not (root / LIST).exists():
        return []
    names = ROW.findall((root / LIST).read_text())
    files = {path.stem for path in (root / FOLDER).glob("*.cpp")} - {LIST.stem}
    violations = [Violation(str(LIST), 1, f"the row {name} has no file {FOLDER}/{name}.cpp") for name in set(names) - files]
    violations += [Violation(str(FOLDER / f"{name}.cpp"), 1, f"has no row in {LIST}") for name in files - set(names)]
    most = max(2, int(SHARE * len(names)))
    listed = re.compile(rf"\b(?:(?:{'|'.join(names)})\b(?:\W|\bor\b|\band\b)*){{{most},}}")
    for path in sorted({path for pattern in LOOKED_AT for path in root.glob(pattern) if path.is_file()}):
        name = path.relative_to(root)
        if name == LIST or name.parts[0] == "build":
            continue
        text = path.read_text(errors="replace")
        violations += [
            Violation(str(name), line_at(text, match.start()), f"lists the subcommands, as {LIST} alone does: read them from there")
            for match in listed.finditer(text)
        ]
    return violations
