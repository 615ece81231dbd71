#!/usr/bin/env python3
"""check_names.py ROOT: no type name is defined twice in one namespace.

Two definitions of one name break the one definition rule as soon as a program has both. The check
reads the sources of ROOT and collects the classes, structs, unions and enumerations of each
namespace, and the concepts and aliases of headers. It fails if several files define a name.
Definitions that cannot meet are allowed: those in unnamed namespaces of source files, those in
functions, and those in NAME_cuda.cpp and NAME_nocuda.cpp, because a build has only one of them."""

import collections
import pathlib
import re
import sys

HEADERS, SOURCES = {".h", ".cuh"}, {".cpp", ".cu"}
FOLDERS = ["src", "tools", "c", "python", "vapoursynth"]
UNNAMED, SPECIALISATION = "(unnamed)", "(specialisation)"

# Everything that is not code: comments, raw strings, strings, characters and preprocessor lines. (A
# ' in a number separates digits.)
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-zA-Z_])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE,
)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|[{}();<>=,\[\]:]|[^\s\w]|\w+")
TYPE_WORDS = {"class", "struct", "union", "enum"}


class Scope:
    """Content of a pair of braces: a namespace, a type, or anything else."""

    def __init__(self, kind, names=()):
        self.kind, self.names = kind, tuple(names)


def without_brackets(tokens):
    """Returns a declaration without the contents of (), [] and template lists."""
    kept, open_ones = [], []
    for i, token in enumerate(tokens):
        follows_word = i > 0 and re.match(r"\w", tokens[i - 1])
        if token in ("(", "[") or (token == "<" and (follows_word or open_ones[-1:] == ["<"])):
            open_ones.append(token)
        elif token in (")", "]"):
            while open_ones and open_ones.pop() == "<":  # a comparison in brackets
                continue
        elif token == ">" and open_ones[-1:] == ["<"]:
            open_ones.pop()
        elif not open_ones:
            kept.append(token)
    return kept


def type_defined(tokens):
    """Returns the name of the type that a declaration with a body defines, or None."""
    words = without_brackets(tokens)
    for i, word in enumerate(words):
        if word not in TYPE_WORDS:
            continue
        rest = [w for w in words[i + 1 :] if w not in ("class", "struct", "final", "alignas")]
        head = rest[: rest.index(":")] if ":" in rest else rest
        plain = all(re.fullmatch(r"\w+|::", w) for w in head)
        before = set(words[:i]) - {"template", "typedef", "requires", "static", "constexpr"}
        # Only "struct Name". (With more words a function or a variable of the type follows.)
        if not before & {"=", "("} and plain and len([w for w in head if w != "::"]) == 1:
            return head[-1]
        # "Outer::Name" is defined outside of its scope, "attribute Name" has a macro before it.
        return "::".join(w for w in head if w != "::") if plain and "::" in head else None
    return None


def alias_defined(tokens):
    """Returns the name of an alias or a concept that a complete declaration defines."""
    words = without_brackets(tokens)
    for keyword in ("using", "concept"):
        if keyword in words:
            rest = words[words.index(keyword) + 1 :]
            if len(rest) > 1 and rest[1] == "=" and "operator" not in rest[:1]:
                return rest[0]
    if words[:1] == ["typedef"] and len(words) > 2 and "{" not in words:
        return words[-1]
    return None


def is_specialisation(tokens, name):
    """Returns whether `name` is followed by template arguments, as in no other definition."""
    return any(a == name and b == "<" for a, b in zip(tokens, tokens[1:]))


def definitions(text):
    """Yields a scope, a name and whether it is an alias or a concept, for each type at namespace or
    class scope."""
    code = NO_CODE.sub(lambda found: " " * (found.group(0)[:1] not in "/#") + " ", text)
    scopes, tokens, round_depth = [], [], 0
    for token in TOKEN.findall(code):
        if token in ("(", ")"):
            round_depth += 1 if token == "(" else -1
        if token == "{" and round_depth == 0:
            opened, found = opening(tokens)
            if found and all(scope.kind != "other" for scope in scopes):
                yield scope_name(scopes), found, False
            scopes.append(opened)
            tokens = []
        elif token == "{":
            scopes.append(Scope("inside"))
            tokens.append(token)
        elif token == "}":
            closed = scopes.pop() if scopes else Scope("other")
            if closed.kind == "inside":
                tokens.append(token)
            else:
                tokens = [] if closed.kind == "namespace" else ["}"]
        elif token == ";" and round_depth == 0:
            name = alias_defined(tokens)
            if name and all(scope.kind != "other" for scope in scopes):
                yield scope_name(scopes), name, True
            tokens = []
        elif tokens == ["}"] and token not in (",", "="):
            tokens = [token]
        elif token == ":" and tokens and tokens[-1] in ("public", "private", "protected"):
            tokens = []
        else:
            tokens.append(token)


def opening(tokens):
    """Returns the scope that a brace opens after these tokens, and the type that it defines."""
    if "namespace" in tokens:
        names = [t for t in tokens[tokens.index("namespace") + 1 :] if re.match(r"\w", t)]
        return Scope("namespace", names or [UNNAMED]), None
    name = type_defined(tokens)
    if name and not is_specialisation(tokens, name):
        return Scope("type", [name]), name
    return Scope("type", [SPECIALISATION]) if name else Scope("other"), None


def scope_name(scopes):
    return "::".join(name for scope in scopes for name in scope.names)


def place(path):
    """Returns where a definition can conflict with others; alternative sources share one place."""
    return re.sub(r"_(no)?cuda\.cpp$", ".cpp", path)


def duplicates(root):
    """Returns (qualified name, files) for names in several files, and the number of names."""
    found = collections.defaultdict(set)
    files = [p for folder in FOLDERS for p in (pathlib.Path(root) / folder).rglob("*")]
    for path in sorted(p for p in files if p.suffix in HEADERS | SOURCES):
        name = path.relative_to(root).as_posix()
        for scope, defined, is_alias in definitions(path.read_text(encoding="utf-8")):
            alone = path.suffix in SOURCES and (is_alias or UNNAMED in scope)
            if not alone and SPECIALISATION not in scope:
                found[f"{scope}::{defined}"].add(name)
    several = [
        (name, sorted(files)) for name, files in found.items() if len({place(f) for f in files}) > 1
    ]
    return sorted(several), len(found)


def main():
    several, count = duplicates(sys.argv[1])
    for name, files in several:
        print(f"{name} is defined in {', '.join(files)}; give each its own name", file=sys.stderr)
    if count == 0:
        sys.exit(f"no type in the sources of {sys.argv[1]}")
    if several:
        sys.exit(f"{len(several)} names of types are defined more than once")
    print(f"{count} names of types are defined once")


if __name__ == "__main__":
    main()
