"""What must be true of the repository: nothing private, no dead links, every requirement accounted for."""

import ast
import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "docs" / "requirements.md"

# How many requirements each chapter has: H1…H11, K1…K10, and so on.
CHAPTERS = {"H": 11, "K": 10, "R": 8, "N": 8, "L": 11, "M": 10, "S": 7, "O": 5}
MAX_MODULE_LINES = 500

# Put together here so that this file does not contain them.
REGISTRY_HOSTS = [
    "pypi" + ".org",
    "python" + "hosted.org",
    "registry.npm" + "js.org",
    "registry.yarn" + "pkg.com",
]
WORKPLACE_PATHS = [
    "/wo" + "rk/main",
    "/wo" + "rk/shared",
    "/root/" + ".pyenv",
    "/opt/" + "pypi",
    "/opt/" + "wheels",
]

FENCED_CODE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")
MARKDOWN_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
TEST_REFERENCE = re.compile(r"(tests/[\w/.-]+\.py)::([\w:]+)")


@cache
def repository_files() -> list[str]:
    """Paths of what is committed or would be by `git add .`."""
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "-z",
    ]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [path for path in listing.split("\0") if path and (ROOT / path).is_file()]


def lines_with(needles: list[str]) -> list[str]:
    """`file:line: needle` for every place in the repository where one of the needles stands."""
    pattern = re.compile("|".join(map(re.escape, needles)).encode())
    found: list[str] = []
    for path in repository_files():
        content = (ROOT / path).read_bytes()
        for match in pattern.finditer(content):
            line = content.count(b"\n", 0, match.start()) + 1
            found.append(f"{path}:{line}: {match[0].decode()}")
    return found


def report(problems: list[str], fix: str) -> None:
    assert not problems, "\n".join([*problems, f"Fix: {fix}"])


def test_no_file_names_a_package_registry() -> None:
    report(
        lines_with(REGISTRY_HOSTS),
        "remove the host name; which registry is used is each machine's own setting (pins: `make lock`).",
    )


def test_no_file_contains_a_path_of_the_workplace() -> None:
    report(
        lines_with(WORKPLACE_PATHS),
        "write the path relative to the repository, or use a neutral one (/home/ada/…).",
    )


def test_pins_carry_hashes_and_no_address() -> None:
    problems: list[str] = []
    for name in ("lock.txt", "dev.txt", "model.txt"):
        text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
        problems += [f"requirements/{name}: no hashes"] if "--hash=sha256:" not in text else []
        problems += [
            f"requirements/{name}:{number}: {line}"
            for number, line in enumerate(text.splitlines(), 1)
            if "://" in line or "-index" in line or "--find-links" in line
        ]
    report(problems, "write the pins again with `make lock`.")


def test_uv_lock_is_not_committed() -> None:
    committed = [path for path in repository_files() if Path(path).name == "uv.lock"]
    report(committed, "git rm --cached it: it names a registry on every line; requirements/*.txt are the pins.")


def test_modules_stay_short() -> None:
    problems: list[str] = []
    for path in sorted((ROOT / "src" / "recollect").rglob("*.py")):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines >= MAX_MODULE_LINES:
            problems.append(f"{path.relative_to(ROOT)}: {lines} lines")
    report(
        problems,
        f"find the second idea in the module and give it its own file (below {MAX_MODULE_LINES} lines).",
    )


def links(markdown: str) -> list[str]:
    """Link targets outside code that point to files."""
    prose = INLINE_CODE.sub("", FENCED_CODE.sub("", markdown))
    targets = [inline or reference for inline, reference in MARKDOWN_LINK.findall(prose)]
    return [target for target in targets if not re.match(r"[a-z][a-z0-9+.-]*:|#|//", target)]


def test_links_in_the_documentation_lead_to_files() -> None:
    pages = [ROOT / "README.md", ROOT / "AGENTS.md", *sorted((ROOT / "docs").rglob("*.md"))]
    problems: list[str] = []
    for page in pages:
        if not page.exists():
            continue
        for target in links(page.read_text(encoding="utf-8")):
            path = unquote(target.split("#")[0].split("?")[0])
            base = ROOT if path.startswith("/") else page.parent
            if not (base / path.lstrip("/")).exists():
                problems.append(f"{page.relative_to(ROOT)}: {target} does not exist")
    report(problems, "correct the link, or write the page it promises.")


def requirement_rows() -> list[tuple[str, str, str]]:
    """(id, what, shown by) of each row of the tables in docs/requirements.md."""
    rows: list[tuple[str, str, str]] = []
    for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
        # A cell may hold a pipe only as \|.
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 3 and re.fullmatch(r"[A-Z]+\d+", cells[0]):
            rows.append((cells[0], cells[1], cells[2]))
    return rows


@cache
def names_of_tests(path: Path) -> frozenset[str]:
    """Names of the test functions in a file; those in a class as Class::name."""
    found: set[str] = set()

    def collect(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                collect(node.body, f"{prefix}{node.name}::")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                found.add(prefix + node.name)

    collect(ast.parse(path.read_text(encoding="utf-8")).body, "")
    return frozenset(found)


def test_every_decision_is_listed_once() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"^\| \[\d{4}\]\(([^)]+)\) \|", (folder / "README.md").read_text(encoding="utf-8"), re.M)
    assert listed == sorted(path.name for path in folder.glob("0*.md"))


def test_every_requirement_is_listed_once() -> None:
    expected = {f"{chapter}{number}" for chapter, count in CHAPTERS.items() for number in range(1, count + 1)}
    listed = Counter(requirement for requirement, _, _ in requirement_rows())
    problems = [f"docs/requirements.md: {missing} is missing" for missing in sorted(expected - listed.keys())]
    problems += [f"docs/requirements.md: {unknown} is no requirement" for unknown in sorted(listed.keys() - expected)]
    problems += [f"docs/requirements.md: {twice} stands {n} times" for twice, n in listed.items() if n > 1]
    report(problems, "one row `| id | what | shown by |` for each id.")


def test_every_requirement_has_a_test_or_is_planned() -> None:
    problems: list[str] = []
    for requirement, what, shown_by in requirement_rows():
        where = f"docs/requirements.md: {requirement}"
        references = TEST_REFERENCE.findall(shown_by)
        if not what:
            problems.append(f"{where} has no summary")
        if not references and "*planned*" not in shown_by:
            problems.append(f"{where} has neither a test nor the word *planned*")
        # A reference the pattern cannot read must not pass for one that was checked.
        if shown_by.count("tests/") != len(references):
            problems.append(f"{where} names a test in another form than `tests/…/file.py::test_name`")
        for file, test in references:
            if not (ROOT / file).is_file():
                problems.append(f"{where} names {file}, which does not exist")
            elif test not in names_of_tests(ROOT / file):
                problems.append(f"{where} names {file}::{test}, which is not in that file")
    report(problems, "name an existing test as `tests/…/file.py::test_name`, or write *planned*.")
