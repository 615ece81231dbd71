"""The ABI that a header of the C interface declares: types, values and functions."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Header:
    structs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # (name, declaration)
    types: dict[str, str] = field(default_factory=dict)  # other typedefs by name
    enumerators: list[str] = field(default_factory=list)
    functions: dict[str, str] = field(default_factory=dict)  # prototypes by name


def _normal(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\s*([(),*])\s*", r"\1", text)


def _members(body: str) -> list[tuple[str, str]]:
    members = []
    for declaration in filter(None, (part.strip() for part in body.split(";"))):
        kind, names = re.fullmatch(r"((?:const\s+)?\w+[\s*]+)(\w.*)", declaration, re.S).groups()
        for name in names.split(","):
            name = name.strip()
            members.append((re.match(r"\w+", name)[0], _normal(f"{kind} {name}")))
    return members


def read_header(path: Path) -> Header:
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    header = Header()
    for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\}", text, re.S):
        header.structs[name] = _members(body)
    for body in re.findall(r"enum \{(.*?)\}", text, re.S):
        header.enumerators += re.findall(r"(\w+)\s*=", body)
    for declaration in re.findall(r"LULL_API ([^;]*\));", text):
        name = re.search(r"(\w+)\s*\(", declaration)[1]
        header.functions[name] = _normal(declaration)
    for declaration in re.findall(r"typedef (?!struct \w+ \{)([^;{]*);", text):
        name = re.search(r"\(\*(\w+)\)|(\w+)$", declaration)
        header.types[name[1] or name[2]] = _normal(declaration)
    if not (header.structs and header.enumerators and header.functions):
        raise SystemExit(f"{path}: no declarations found")
    return header


def layout(path: Path, header: Header, compiler: str) -> dict[str, int]:
    """Returns sizes, offsets and values of what `header` names, as the compiler sees `path`."""
    questions = [(name, f"{name}") for name in header.enumerators]
    for struct, members in header.structs.items():
        questions.append((f"sizeof({struct})", f"sizeof({struct})"))
        for member, _ in members:
            questions.append((f"{struct}.{member}", f"offsetof({struct}, {member})"))
            size = f"sizeof((({struct} *)0)->{member})"
            questions.append((f"{struct}.{member} size", size))
    lines = "".join(f'  printf("%s=%ld\\n", "{name}", (long)({value}));\n' for name, value in questions)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "abi.c")
        source.write_text(
            f'#include <stdio.h>\n#include "{path.resolve()}"\n'
            f"int main(void) {{\n{lines}  return 0;\n}}\n"
        )
        program = Path(folder, "abi")
        built = subprocess.run(
            [compiler, "-std=c99", "-o", program, source], capture_output=True, text=True
        )
        if built.returncode:
            raise SystemExit(f"{path} lacks a recorded declaration:\n{built.stderr}")
        printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in (line.split("=") for line in printed.splitlines())}


def breaks(recorded_path: Path, path: Path, compiler: str) -> list[str]:
    """Returns how `path` breaks programs that were compiled with the recorded header."""
    recorded, now = read_header(recorded_path), read_header(path)
    found = []
    for kind, old, new in (
        ("type", recorded.types, now.types),
        ("function", recorded.functions, now.functions),
    ):
        for name, declaration in old.items():
            if new.get(name) != declaration:
                found.append(f"{kind} {name}: '{declaration}' is now '{new.get(name, 'absent')}'")
    for struct, members in recorded.structs.items():
        kept = now.structs.get(struct, [])[: len(members)]
        if kept != members:
            found.append(f"struct {struct}: members are now {kept}, recorded are {members}")
    if found or set(recorded.enumerators) - set(now.enumerators):
        lost = sorted(set(recorded.enumerators) - set(now.enumerators))
        return found + [f"enumerator {name} is absent" for name in lost]
    values, old_values = layout(path, recorded, compiler), layout(recorded_path, recorded, compiler)
    for name, value in old_values.items():
        grown = name.startswith("sizeof") and values[name] >= value
        if values[name] != value and not grown:
            found.append(f"{name} = {values[name]}, recorded is {value}")
    return found
