#!/usr/bin/env python3
"""Prints the installed headers, one path per line: the list LULL_PUBLIC_HEADERS of
cmake/LullInstall.cmake and all headers of src/core."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def public_headers():
    text = (ROOT / "cmake/LullInstall.cmake").read_text(encoding="utf-8")
    found = re.search(r"set\(LULL_PUBLIC_HEADERS\b(.*?)\)", text, re.DOTALL)
    if not found:
        sys.exit("public_headers.py: cmake/LullInstall.cmake has no set(LULL_PUBLIC_HEADERS ...)")
    listed = [ROOT / "src" / name for name in found[1].split() if name.endswith(".h")]
    headers = sorted((ROOT / "src/core").glob("*.h")) + listed
    missing = [str(header) for header in headers if not header.is_file()]
    if missing or len(listed) < 10:
        sys.exit(f"public_headers.py: {len(listed)} headers are listed, missing: {missing}")
    return list(dict.fromkeys(header.relative_to(ROOT).as_posix() for header in headers))


if __name__ == "__main__":
    print("\n".join(public_headers()))
