"""Which folder may include which, and that what is included is there. The table is the picture of the layers, one row for each layer, the lowest last."""

from pathlib import Path

from source import Violation, code_of, includes_of

# A folder may include those of the rows under its own, but not its neighbours.
ROWS = [
    ["purify", "sinkhorn", "poisson", "kmeans", "learn", "partition"],
    ["dense", "sparse", "krylov"],
    ["redistribute", "collective", "halo", "iterate", "report", "io"],
    ["schedule"],
    ["mpi"],
    ["simd", "layout", "model", "graph"],
    ["base"],
]
NEIGHBOURS = {("redistribute", "collective")}  # first may include second
# A solver uses no other solver, `dense` included, but for those that multiply matrices: purification and networks.
STRANGERS = {(solver, "dense") for solver in ROWS[0] if solver not in ("purify", "learn")}

# The same within folders that have folders themselves. What lies beside these may include all.
PARTS = {
    "sinkhorn": [
        ["transport", "coffee", "grid", "balance"],
        ["scaling", "costs"],
        ["course", "exchange"],
        ["marginals"],
        ["sweep"],
    ],
    "cli": [
        ["jobs"],
        ["scaling", "purify"],
        ["trace", "exec", "generate", "machine", "redistribute", "poisson", "partition", "learn"],
        ["host"],
        ["pictures"],
    ],
}

LIBRARY = "src/plait"
TOP = ["cli", "capi", "shim"]  # src/<name>: on top of the library, unknown to it and to each other


def levels(rows: list[list[str]]) -> dict[str, int]:
    return {folder: len(rows) - row for row, folders in enumerate(rows) for folder in folders}


LEVEL = levels(ROWS)
PART_LEVEL = {folder: levels(rows) for folder, rows in PARTS.items()}


def may_include(folder: str, other: str) -> bool:
    if folder == other or (folder, other) in NEIGHBOURS:
        return True
    return LEVEL[folder] > LEVEL[other] and (folder, other) not in STRANGERS


def check_layers(root: Path, files: list[Path]) -> list[Violation]:
    violations = []
    for path in files:
        parts = path.parts
        if parts[0] != "src":
            continue
        includes = includes_of(code_of((root / path).read_text(errors="replace")))
        reasons = of_library(root, path) if parts[:2] == ("src", "plait") else of_top(root, path)
        for line, include, quoted in includes:
            why = reasons(include, quoted)
            if why:
                violations.append(Violation(str(path), line, why))
    return violations


def check_headers(root: Path, files: list[Path]) -> list[Violation]:
    """Sources that few machines compile name headers of the project that are there, too."""
    folders = {path.name for path in (root / "src").glob("*")} | {"bench", "tests"}
    violations = []
    for path in files:
        for line, include, quoted in includes_of(code_of((root / path).read_text(errors="replace"))):
            ways = (root / "src", root, root / "tests", root / path.parent)
            if quoted and include.split("/")[0] in folders and not any((way / include).exists() for way in ways):
                violations.append(Violation(str(path), line, f'there is no "{include}"'))
    return violations


def misspelt(root: Path, path: Path, include: str, quoted: bool) -> str | None:
    """A header of the project that is named relative to the file escapes the check, so it is to be named from src/."""
    if quoted and not (root / "src" / include).exists() and (root / path.parent / include).exists():
        return f'"{include}" is a header of the project: name it by its path from src/'
    return None


def reason_of_parts(place: str, part: str, other: str) -> str | None:
    """Why `place`/part must not include `place`/other, if so."""
    folder = place.rsplit("/", 1)[1]
    level = PART_LEVEL[folder]
    for unknown in [name for name in (part, other) if name not in level]:
        return f"the folder {place}/{unknown} is not in the table of parts"
    if part != other and level[part] <= level[other]:
        return f"{folder}/{part}/ must not include {folder}/{other}/, which is not under it"
    return None


def of_library(root: Path, path: Path):
    folder = path.parts[2] if len(path.parts) > 3 else None  # None: a header of the whole library, src/plait/x.hpp
    known = folder is None or folder in LEVEL
    part = path.parts[3] if folder in PART_LEVEL and len(path.parts) > 4 else None

    def reason(include: str, quoted: bool) -> str | None:
        head = include.split("/")
        if not known:
            return f"the folder {LIBRARY}/{folder} is not in the table of layers"
        if head[0] in TOP and (root / "src" / include).exists():
            return f"the library does not know src/{head[0]}"
        if head[0] != "plait" or len(head) == 2:
            if folder is not None and head[0] == "plait":
                return f"{folder}/ must not include {include}, which is made of all layers"
            return misspelt(root, path, include, quoted)
        if head[1] not in LEVEL:
            return f"the folder {LIBRARY}/{head[1]} is not in the table of layers"
        if part is not None and head[1] == folder and len(head) > 3:
            return reason_of_parts(f"{LIBRARY}/{folder}", part, head[2])
        if folder is not None and not may_include(folder, head[1]):
            return f"{folder}/ must not include {head[1]}/, which is not under it"
        return None

    return reason


def of_top(root: Path, path: Path):
    folder = path.parts[1]
    part = path.parts[2] if folder in PART_LEVEL and len(path.parts) > 3 else None

    def reason(include: str, quoted: bool) -> str | None:
        head, *rest = include.split("/")
        if head in TOP and head != folder and (root / "src" / include).exists():
            return f"{folder}/ must not include {head}/, its neighbour"
        if part is not None and head == folder:
            if len(rest) < 2:
                return f"{folder}/{part}/ must not include {include}, which stands above it"
            return reason_of_parts(f"src/{folder}", part, rest[0])
        return misspelt(root, path, include, quoted) if len(include.split("/")) > 1 and include.startswith("..") else None

    return reason
