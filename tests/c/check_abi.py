"""check_abi.py --compiler CC --library SO --map MAP RECORDED HEADER

Checks the promise of the C library: a program that was compiled with the header of a release works
with every later version of the same SONAME.

- Everything in the RECORDED header is in HEADER, with the same values, offsets and prototypes.
  Structures may have further members at their end.
- The library exports the functions of HEADER and nothing else, under the versions of the map. The
  functions of RECORDED have the version LULL_1.
- Its SONAME is liblull.so.1, and it needs no library of files (FFmpeg and others).
"""

import argparse
import re
import subprocess
from pathlib import Path

from abi import breaks, read_header


def run(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser()
    for option in ("--compiler", "--library", "--map"):
        parser.add_argument(option, required=True)
    parser.add_argument("recorded", type=Path)
    parser.add_argument("header", type=Path)
    given = parser.parse_args()

    found = breaks(given.recorded, given.header, given.compiler)
    functions = set(read_header(given.header).functions)
    released = set(read_header(given.recorded).functions)
    listed = set(re.findall(r"\b(lull_\w+);", Path(given.map).read_text()))
    found += [f"{name} is not both in the header and in the map" for name in functions ^ listed]
    exported = {}
    for line in run("nm", "-D", "--defined-only", given.library).splitlines():
        name, _, version = line.split()[-1].partition("@")
        exported[name] = version.lstrip("@")
    versions = {name for name in exported if re.fullmatch(r"LULL_\d+(\.\d+)*", name)}
    found += [f"{name} is exported" for name in sorted(set(exported) - functions - versions)]
    found += [f"{name} is not exported" for name in sorted(functions - set(exported))]
    found += [
        f"{name} has the version '{exported[name]}', not LULL_1"
        for name in sorted(released & set(exported))
        if exported[name] != "LULL_1"
    ]
    dynamic = run("readelf", "-d", given.library)
    if "soname: [liblull.so.1]" not in dynamic:
        found.append("the SONAME is not liblull.so.1")
    needed = re.findall(r"NEEDED.*\[(.*?)\]", dynamic)
    found += [f"it needs {one}" for one in needed if re.match(r"lib(av|sw|tiff|exiv|OpenEXR|z\.)", one)]
    if found:
        raise SystemExit("\n".join(found))
    print(f"{len(functions)} functions, needed: {' '.join(needed)}")


main()
