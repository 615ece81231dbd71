#!/usr/bin/env python3
"""check.py [ROOT]: checks the documents of a repository without building the site; prints errors.

- Every relative link of a Markdown file leads to a file, its anchor to a heading.
- Every `docs/...` path that code or a document names exists.
- Every path of code that a document names exists.
- ARCHITECTURE.md names each module that tests/layers/check_layers.cmake declares.
- A how-to has at most 80 lines, README.md at most 130.
- CITATION.cff states the version of CMakeLists.txt."""

import os
import posixpath
import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve() if sys.argv[1:] else Path(__file__).resolve().parents[2]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)
CODE_FOLDERS = "src|c|tools|tests|bench|samples|python|vapoursynth|gstreamer|mlt|slicer|farm|cmake"
CODE_PATH = re.compile(rf"`((?:{CODE_FOLDERS})/[^`\s]*)`")
# Files of code in backticks. A page may state folders that they are relative to:
# <!-- paths:src/bm3d,src -->
CODE_FILE = re.compile(r"`([\w./*-]+\.(?:h|cpp|cu|cuh))`")
BASES = re.compile(r"<!-- paths:(\S*) -->")
DOCS_PATH = re.compile(r"(?<!tests/)(?<!build/)docs/[\w./-]*\.(?:md|json|csv|png|svg|py|sh)\b")
TEXTS = {".md", ".h", ".cpp", ".cu", ".cuh", ".cmake", ".txt", ".py", ".sh", ".yml", ".json", ""}
GENERATED = ("docs/reference/cpp-api/",)
LIMITS = (("README.md", 130), ("docs/how-to/", 80))
# The change log names files by the paths that they had at the time; the self-test plants errors.
EXEMPT = ("CHANGELOG.md", "tests/docs/self_test.py")


def tracked_files():
    """Returns all files of the repository, except those in build folders and hidden folders."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if not f.startswith((".", "build")) or f == ".github"]
        for name in names:
            yield (Path(folder) / name).relative_to(ROOT).as_posix()


def slugs(text):
    """Returns the anchors of a document's headings."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *#*$", FENCE.sub("", text), re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\s-]", "", heading).strip().lower()
        found.add(re.sub(r"[-\s]+", "-", slug))
    return found


def exists(path):
    if any(character in path for character in "*?"):
        return any(ROOT.glob(path.rstrip("/")))
    return (ROOT / path).exists()


def check_links(name, text, texts, report):
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        path, _, anchor = target.partition("#")
        full = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
        if full.startswith(GENERATED):
            continue
        if not (ROOT / full).exists():
            report(name, f"link to {target}, which does not exist")
        elif anchor and full in texts and anchor not in slugs(texts[full]):
            report(name, f"link to {target}, which has no such heading")


def check_modules(report):
    checker = (ROOT / "tests/layers/check_layers.cmake").read_text(encoding="utf-8")
    architecture = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    declared = re.findall(r"^(?:room|module)\(([a-z0-9_/]+)", checker, re.MULTILINE)
    if len(declared) < 20:
        report("ARCHITECTURE.md", "no modules found in tests/layers/check_layers.cmake")
    for module in declared:
        if f"`{module}`" not in architecture:
            report("ARCHITECTURE.md", f"does not name the module `{module}`")


def check_version(report):
    cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    built = re.search(r"project\(lull VERSION ([0-9.]+)", cmake)
    cited = re.search(r"^version: ([0-9.]+)$", citation, re.MULTILINE)
    if not built or not cited or built[1] != cited[1]:
        report("CITATION.cff", "does not state the version of CMakeLists.txt")


def main():
    errors = []

    def report(name, problem):
        if (error := f"{name}: {problem}") not in errors:
            errors.append(error)

    names = sorted(tracked_files())
    documents = [name for name in names if name.endswith(".md")]
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in documents}
    for name, text in texts.items():
        check_links(name, text, texts, report)
        if name.startswith("docs/") or name == "ARCHITECTURE.md":
            for path in CODE_PATH.findall(text):
                if not exists(path):
                    report(name, f"names `{path}`, which does not exist")
            bases = [base + "/" for line in BASES.findall(text) for base in line.split(",")]
            for path in CODE_FILE.findall(text):
                is_path = bases or "/" in path
                if is_path and not any(exists(base + path) for base in ["", *bases]):
                    report(name, f"names `{path}`, which does not exist")
        for prefix, limit in LIMITS:
            lines = text.count("\n")
            if name.startswith(prefix) and lines > limit:
                report(name, f"has {lines} lines, at most {limit} are allowed")
    for name in names:
        if Path(name).suffix not in TEXTS or name in EXEMPT:
            continue
        try:
            text = texts.get(name) or (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for path in set(DOCS_PATH.findall(text)):
            if not exists(path) and not path.startswith(GENERATED):
                report(name, f"names {path}, which does not exist")
    check_modules(report)
    check_version(report)
    print("\n".join(errors), end="\n" if errors else "", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
