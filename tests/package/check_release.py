#!/usr/bin/env python3
"""check_release.py [ROOT]: checks that the files of a release agree; prints errors.

- CITATION.cff, the Boutiques descriptor and CHANGELOG.md state the version of CMakeLists.txt, and
  both pyproject.toml take theirs from there.
- Every library of the portable build has a licence and a function that builds it; none of them is
  under the GPL, and FFmpeg is configured without GPL and non-free parts.
- debian/copyright and the SBOM name every library that is compiled in from headers.
- Every file that an installation has belongs to one Debian package, whose description exists.
- Workflows and container files call verbs that ./run has, and CI's workflow calls every verb that
  .ci/run calls.
- No CMake file makes a regular expression of a path, which may contain "++" or parentheses."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(sys.argv[1]).resolve() if sys.argv[1:] else Path(__file__).resolve().parents[2]
TRIPLET = "x86_64-linux-gnu"
# A path below /usr and its package.
PLACES = {
    "bin/lull": "lull",
    "share/man/man1/lull.1": "lull",
    "share/bash-completion/completions/lull": "lull",
    "share/zsh/vendor-completions/_lull": "lull",
    "include/lull/core/frame.h": "liblull-dev",
    "include/lull.h": "liblull-dev",
    f"lib/{TRIPLET}/liblull_core.a": "liblull-dev",
    f"lib/{TRIPLET}/liblull.so": "liblull-dev",
    f"lib/{TRIPLET}/cmake/lull/lullConfig.cmake": "liblull-dev",
    f"lib/{TRIPLET}/pkgconfig/lull-cxx.pc": "liblull-dev",
    f"lib/{TRIPLET}/liblull.so.1": "liblull1",
    f"lib/{TRIPLET}/liblull.so.1.0.0": "liblull1",
    f"lib/{TRIPLET}/gstreamer-1.0/libgstlull.so": "gstreamer1.0-lull",
    f"lib/{TRIPLET}/mlt-7/libmltlull.so": "lull-mlt",
}
HEADERS_ONLY = ("CLI11", "nlohmann-json")


def read(name):
    return (ROOT / name).read_text()


def found(pattern, name):
    match = re.search(pattern, read(name), re.MULTILINE)
    return match.group(1) if match else None


def check_version(report):
    version = found(r"^project\(lull VERSION ([0-9.]+)", "CMakeLists.txt")
    stated = {
        "CITATION.cff": found(r"^version: (\S+)", "CITATION.cff"),
        "farm/boutiques/lull.json": found(r'"tool-version": "([^"]+)"', "farm/boutiques/lull.json"),
        "CHANGELOG.md": found(r"^## \[([0-9.]+)\] - \d{4}-\d\d-\d\d$", "CHANGELOG.md"),
    }
    for name, value in stated.items():
        if value != version:
            report(f"{name}: version {value}, but CMakeLists.txt states {version}")
    for name in ("python/pyproject.toml", "vapoursynth/pyproject.toml"):
        text = read(name)
        if 'dynamic = ["version"]' not in text or 'input = "../CMakeLists.txt"' not in text:
            report(f"{name}: the version does not come from CMakeLists.txt")


def check_libraries(report):
    script = read("packaging/portable/libraries.sh")
    names = []
    for line in read("packaging/portable/sources.txt").splitlines():
        if not line or line.startswith("#"):
            continue
        fields = line.split(maxsplit=2)  # (licences may be an expression: "MIT AND Zlib")
        if len(fields) != 3:
            report(f"packaging/portable/sources.txt: no name, version and licence in: {line}")
            continue
        names.append(fields[0])
        if re.search(r"\bA?GPL", fields[2]):
            report(f"packaging/portable/sources.txt: {fields[0]} is under the {fields[2]}")
        if not re.search(rf"^build_{re.escape(fields[0])}\(\)", script, re.MULTILINE):
            report(f"packaging/portable/libraries.sh: no build_{fields[0]}()")
    if "ffmpeg" not in names:
        report("packaging/portable/sources.txt: no ffmpeg")
    for option in re.findall(r"--enable-(?:gpl|nonfree)\b", re.sub(r"#.*", "", script)):
        report(f"packaging/portable/libraries.sh: {option}")


def check_licences(report):
    for name in HEADERS_ONLY:
        for document in ("packaging/deb/copyright", "packaging/sbom.py", "packaging/portable/libraries.sh"):
            if name not in read(document):
                report(f"{document}: does not name {name}")


def check_places(report):
    script = 'source packaging/deb/packages.sh; package_of "$1" "$2"; describe "$(package_of "$1" "$2")"'
    for path, package in PLACES.items():
        lines = subprocess.run(
            ["bash", "-c", script, "bash", path, TRIPLET],
            cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout.splitlines()
        if lines[0] != package:
            report(f"packaging/deb/packages.sh: {path} belongs to {lines[0]}, not to {package}")
        if not any(line.startswith("Description: ") for line in lines):
            report(f"packaging/deb/packages.sh: no description of {package}")


def called_verbs(text):
    return re.findall(r"(?<![\w/])\./run ([a-z][a-z-]*)", text)


def check_verbs(report):
    verbs = set(re.findall(r"^verb_(\w+)\(\)", read("run"), re.MULTILINE))
    files = [*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob("packaging/containers/*")]
    if not files:
        report("no workflows and no container files")
    for file in files:
        for verb in called_verbs(file.read_text()):
            if verb.replace("-", "_") not in verbs:
                report(f"{file.relative_to(ROOT)}: ./run has no verb {verb}")
    called = called_verbs(read(".github/workflows/ci.yml"))
    for verb in dict.fromkeys(called_verbs(read(".ci/run"))):
        if verb not in called:
            report(f".github/workflows/ci.yml: does not call ./run {verb}, as .ci/run does")


def check_expressions(report):
    for file in [ROOT / "CMakeLists.txt", *sorted(ROOT.glob("cmake/*.cmake"))]:
        for name in re.findall(r'(?:MATCHES|REGEX) "[^"]*\$\{(\w*(?:_DIR|folder|path))\}', file.read_text()):
            report(f"{file.relative_to(ROOT)}: {name} is a part of a regular expression")


def main():
    errors = []
    for check in (check_version, check_libraries, check_licences, check_places, check_verbs, check_expressions):
        check(errors.append)
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
