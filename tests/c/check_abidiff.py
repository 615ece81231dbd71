"""check_abidiff.py --compiler CC RECORDED HEADER: compares HEADER with that of the newest release.

abidiff (package abigail-tools) compares debug information. A library of empty functions for each
header has all of their types, whatever compiler and options build liblull.so. Exit code 77: abidiff
is not installed. Planted breaks must be found as well.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from abi import read_header


def stub(header: Path, folder: Path, compiler: str, name: str) -> Path:
    """Returns a library with debug information of all declarations of the header."""
    functions = read_header(header).functions
    bodies = []
    for declaration in functions.values():
        result = "" if declaration.startswith("void ") else "return 0;"
        bodies.append(f"{declaration} {{ {result} }}")
    source = folder / f"{name}.c"
    # (Parameters are not used.)
    source.write_text(f'#include "{header.resolve()}"\n' + "\n".join(bodies) + "\n")
    library = folder / f"{name}.so"
    subprocess.run(
        [compiler, "-g", "-shared", "-fPIC", "-w", "-Wl,-soname,liblull.so.1", "-o", library, source],
        check=True,
    )
    return library


def difference(old: Path, new: Path) -> tuple[int, str]:
    command = ["abidiff", "--no-added-syms", old, new]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


parser = argparse.ArgumentParser()
parser.add_argument("--compiler", required=True)
parser.add_argument("recorded", type=Path)
parser.add_argument("header", type=Path)
given = parser.parse_args()
if shutil.which("abidiff") is None:
    print("skipped: no abidiff (package abigail-tools)")
    sys.exit(77)
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    recorded = stub(given.recorded, folder, given.compiler, "recorded")
    code, text = difference(recorded, stub(given.header, folder, given.compiler, "now"))
    if code:
        raise SystemExit(
            f"abidiff: exit code {code}\n{text}\n"
            "If members were only appended (the test c.abi passes), record the new header."
        )
    header = given.recorded.read_text()
    for what, old, new, is_break in (
        ("another type", "  float white;", "  double white;", True),
        ("a function that is gone", "LULL_API const char* lull_version(void);", "", True),
        ("another function", "LULL_API const char* lull_version(void);",
         "LULL_API const char* lull_version(void);\nLULL_API int lull_other(void);", False),
    ):  # fmt: skip
        planted = folder / "planted.h"
        planted.write_text(header.replace(old, new, 1))
        code, text = difference(recorded, stub(planted, folder, given.compiler, "planted"))
        if bool(code) != is_break or old not in header:
            raise SystemExit(f"{what}: abidiff's exit code is {code}\n{text}")
print("abidiff finds no break, and finds the planted ones")
