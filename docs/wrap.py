#!/usr/bin/env python3
"""wrap.py [--check] FILE ...: wraps the prose of Markdown to lines of at most 100 columns.

The script refills paragraphs and list items that have a longer line. It does not change other
paragraphs, tables, code and headings. --check changes nothing; it fails if a change is necessary."""

import re
import sys

WIDTH = 100
ITEM = re.compile(r"( *)([-*]|\d+\.) +")
# Lines that are not wrapped: tables, headings, quotes, HTML, pictures, definitions of links.
OTHER = re.compile(r"\s*(\||#|>|<|!\[|\[[^\]]+\]:)")
# Words that would begin a list, a heading or a quotation at the beginning of a line.
BEGINS = re.compile(r"([-*+]|>.*|#+|\d+[.)])$")


def fill(words, first, rest):
    """Lines of these words: `first` before the first line, `rest` before the others."""
    lines, line = [], first + words[0]
    for word, following in zip(words[1:], words[2:] + [""]):
        fits = len(line) + 1 + len(word) <= WIDTH
        # A word that must not begin a line stays together with the word before it.
        if fits and BEGINS.match(following) and len(line) + len(word) + len(following) + 2 > WIDTH:
            fits = False
        if fits or BEGINS.match(word):
            line += " " + word
        else:
            lines.append(line)
            line = rest + word
    return lines + [line]


def wrapped(block):
    """A paragraph or one item of a list."""
    if max(map(len, block)) <= WIDTH or any(line.endswith(("  ", "\\")) for line in block[:-1]):
        return block
    item = ITEM.match(block[0])
    first = item.group(0) if item else re.match(" *", block[0]).group(0)
    text = " ".join([block[0][len(first):]] + [line.strip() for line in block[1:]])
    return fill(text.split(), first, " " * len(first))


def wrap(lines):
    out, block, fenced = [], [], False

    def flush():
        out.extend(wrapped(block) if block else [])
        block.clear()

    in_item = False
    for line in lines:
        fence = line.lstrip().startswith("```")
        code = fenced or fence or (line.startswith("    ") and not block and not in_item)
        if code or not line.strip() or OTHER.match(line):
            flush()
            out.append(line)
            fenced ^= fence
            in_item = in_item and not code
            continue
        if ITEM.match(line):
            flush()
            in_item = True
        elif not line.startswith(" ") and not block:
            in_item = False
        block.append(line)
    flush()
    return out


def main():
    check = sys.argv[1:2] == ["--check"]
    late = []
    for path in sys.argv[1 + check:]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        new = "\n".join(wrap(text.split("\n")))
        if new == text:
            continue
        late.append(path)
        if not check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
    if check and late:
        sys.exit("lines of more than 100 columns, which `./run format` wraps: " + ", ".join(late))


if __name__ == "__main__":
    main()
