#!/usr/bin/env python3
"""check_skips.py JUNIT ALLOWED [SUITES]: lists the tests of a run that were skipped. It
fails if ALLOWED does not name one of them. The head of ALLOWED describes its format.

`ctest --output-junit` writes JUNIT. Tests that it labels `suite` are suites of GoogleTest programs.
Each suite writes SUITES/NAME.xml with the results of its tests. A suite that ctest counts as passed
must have this file, because the program may have ended early with exit code 0."""

import collections
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

Skip = collections.namedtuple("Skip", "name output")


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
    return found.group(1) if found else lines[-1] if lines else "no reason given"


def is_suite(case):
    return any(
        "suite" in (entry.get("value") or "").split(";")
        for entry in case.iter("property")
        if entry.get("name") == "cmake_labels"
    )


class Results:
    """All tests of a run: how many there were, which were skipped, which suites gave no results."""

    def __init__(self, junit, suites):
        self.count, self.skipped, self.lost = 0, [], []
        for case in xml.etree.ElementTree.parse(junit).iter("testcase"):
            name = case.get("name")
            if is_suite(case):
                self.add_suite(name, case.get("status") == "run", suites / f"{name}.xml")
                continue
            self.count += 1
            if case.get("status") in ("notrun", "disabled"):
                self.skipped.append(Skip(name, case.findtext("system-out") or ""))

    def add_suite(self, name, is_passed, file):
        if not file.exists():
            if is_passed:
                self.lost.append(name)
            return
        prefix = name.rsplit(".", 1)[0]
        for case in xml.etree.ElementTree.parse(file).iter("testcase"):
            self.count += 1
            skipped = case.find("skipped")
            if skipped is not None or case.get("status") == "notrun":
                place, _, reason = (skipped.get("message") or "").partition("\n")
                test = f"{prefix}.{case.get('classname')}.{case.get('name')}"
                self.skipped.append(Skip(test, f"{place}: Skipped\n{reason}"))


def main():
    allowed = list(rules(sys.argv[2]))
    results = Results(sys.argv[1], pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else "."))
    reasons, refused = collections.Counter(), []
    for skip in results.skipped:
        reason = reason_in(skip.output)
        if any(test.fullmatch(skip.name) and why.search(skip.output) for test, why in allowed):
            reasons[reason] += 1
        else:
            refused.append(f"{skip.name}: {reason}")
    print(f"{results.count} tests, of which {len(results.skipped)} were skipped")
    for reason, count in reasons.most_common():
        print(f"skipped {count:4}: {reason}")
    for text in refused:
        print(f"skipped, which {os.path.basename(sys.argv[2])} does not allow: {text}")
    for name in results.lost:
        print(f"no results of {name}: its program ended early with exit code 0")
    sys.exit(1 if refused or results.lost else 0)


if __name__ == "__main__":
    main()
