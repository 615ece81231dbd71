#!/usr/bin/env python3
"""check_skips.py JUNIT ALLOWED: lists the tests of a run that were skipped. It fails if ALLOWED
does not name one of them. The head of ALLOWED describes its format. `ctest --output-junit` writes
JUNIT."""

import collections
import os
import re
import sys
import xml.etree.ElementTree


def rules(path):
    for line in open(path, encoding="utf-8"):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        gpu = line.startswith("[gpu] ")
        if gpu and os.environ.get("LULL_SKIPS_GPU") == "0":
            continue
        test, reason = (line[6:] if gpu else line).split(" : ", 1)
        yield re.compile(test), re.compile(reason)


def reason_in(output):
    """Returns the text after GoogleTest's `file:line: Skipped`, or else the last line."""
    found = re.search(r": Skipped\n(.+)", output)
    lines = [line for line in output.splitlines() if line.strip()]
    return found.group(1) if found else lines[-1] if lines else "it said nothing"


def main():
    allowed = list(rules(sys.argv[2]))
    reasons, refused = collections.Counter(), []
    for case in xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"):
        if case.get("status") not in ("notrun", "disabled"):
            continue
        output = case.findtext("system-out") or ""
        name, reason = case.get("name"), reason_in(output)
        if any(test.fullmatch(name) and why.search(output) for test, why in allowed):
            reasons[reason] += 1
        else:
            refused.append(f"{name}: {reason}")
    for reason, count in reasons.most_common():
        print(f"skipped {count:4}: {reason}")
    for text in refused:
        print(f"skipped, which {os.path.basename(sys.argv[2])} does not allow: {text}")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
