#!/usr/bin/env python3
"""check_names.py must find every planted violation and accept all allowed definitions."""

import sys
import tempfile
from pathlib import Path

from check_names import duplicates

# Two sources of a library, and the names that both define (none if the sources are valid).
CASES = [
    (
        "two structs",
        "namespace lull { struct A {}; }",
        "namespace lull { struct A { int x; }; }",
        ["lull::A"],
    ),
    (
        "a class and an alias of a header",
        "namespace lull { class A final : B {}; }",
        "namespace lull { using A = int; }",
        ["lull::A"],
    ),
    (
        "two templates",
        "namespace lull { template <class T> struct A {}; }",
        "namespace lull {\ntemplate <class T, int n = (1 < 2)>\nstruct A {};\n}",
        ["lull::A"],
    ),
    (
        "nested namespaces",
        "namespace lull::bm3d { enum class E : int { a }; }",
        "namespace lull { namespace bm3d { struct E {}; } }",
        ["lull::bm3d::E"],
    ),
    (
        "two member types",
        "namespace lull { struct A { struct B {}; }; }",
        "namespace lull { struct A::B {}; }",
        ["lull::A::B"],
    ),
    (
        "a type with an attribute",
        "namespace lull { struct alignas(16) A {}; }",
        "namespace lull { struct [[nodiscard]] A {}; }",
        ["lull::A"],
    ),
    (
        "a type after a function, a variable and a member",
        "namespace lull { int f() { return 1; }\n"
        "const char c = '{'; struct B { int x = 3; }; struct A {}; }",
        "namespace lull { int v{2}; auto g = [] { struct B {}; return 1; }; class A {}; }",
        ["lull::A"],
    ),
    (
        "unnamed namespaces of headers",
        "namespace lull { namespace { struct A {}; } }",
        "namespace lull { namespace { struct A {}; } }",
        ["lull::(unnamed)::A"],
    ),
    (
        "a concept",
        "namespace lull { template <class T> concept C = true; }",
        "namespace lull { template <class T> concept C = false; }",
        ["lull::C"],
    ),
    (
        "other namespaces",
        "namespace lull::bm3d { struct A {}; }",
        "namespace lull::bm4d { struct A {}; }",
        [],
    ),
    (
        "a declaration",
        "namespace lull { struct A; class B; enum class E : int; }",
        "namespace lull { struct A {}; class B {}; enum class E : int { e }; }",
        [],
    ),
    (
        "a friend, a parameter and a result",
        "namespace lull { struct A {}; }",
        "namespace lull { struct B { friend struct A; }; struct A f(struct A a) { return a; } }",
        [],
    ),
    (
        "a specialisation",
        "namespace lull { template <class T> struct A {}; }",
        "namespace lull { template <> struct A<int> { struct B {}; }; }",
        [],
    ),
    (
        "comments and strings",
        "namespace lull { struct A {}; }",
        "namespace lull { /* struct A {}; */ // struct A {};\n"
        'auto s = "struct A {};"; auto r = R"(struct A {})"; }',
        [],
    ),
    (
        "the preprocessor",
        "namespace lull { struct A {}; }",
        "#define X \\\n struct A {};\nnamespace lull { int digits = 1'000'000; }",
        [],
    ),
    (
        "a type in a function",
        "namespace lull { struct A {}; }",
        "namespace lull { int f() { struct A {}; using B = int; return 1; } }",
        [],
    ),
]
# The same text in files with these names, and whether this is a violation.
PLACES = [
    ("src/a.h", "src/io/a.h", "struct A {};", True),
    ("src/a.h", "tools/a.cpp", "struct A {};", True),
    ("src/a.cpp", "src/b.cpp", "struct A {};", True),
    ("src/a.cu", "src/a.cuh", "struct A {};", True),
    ("src/a.cpp", "src/b.cpp", "namespace { struct A {}; }", False),
    ("src/a.cpp", "src/b.cpp", "using A = int;", False),
    ("src/a_cuda.cpp", "src/a_nocuda.cpp", "struct A {};", False),
    ("src/a_cuda.cpp", "src/b_nocuda.cpp", "struct A {};", True),
    ("src/a.h", "tests/a.h", "struct A {};", False),
]


def names_in(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return [name for name, _ in duplicates(folder)[0]]


def main():
    failures = []
    for what, one, other, expected in CASES:
        for first, second in ((one, other), (other, one)):
            found = names_in({"src/a.h": first, "src/b.h": second})
            if found != expected:
                failures.append(f"{what}: found {found} instead of {expected}")
    for one, other, text, is_violation in PLACES:
        found = names_in(
            {one: f"namespace lull {{ {text} }}", other: f"namespace lull {{ {text} }}"}
        )
        if bool(found) != is_violation:
            failures.append(f"{text} in {one} and {other}: found {found}")
    if names_in({"src/a.h": "namespace lull { struct A {}; }\nnamespace lull { struct A {}; }"}):
        failures.append("a name in one file only")
    sys.exit("\n".join(failures) or None)


if __name__ == "__main__":
    main()
