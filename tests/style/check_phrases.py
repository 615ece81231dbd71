#!/usr/bin/env python3
"""check_phrases.py FILE ...: finds phrases of phrases.txt in the comments of C++, CUDA and Python
sources, in docstrings, and in the prose of Markdown documents. Prints file, line and what to write
instead, and exits with 1 where there are any.

`--count` prints how often each phrase occurs instead, and always exits with 0."""

import ast
import collections
import io
import os
import re
import sys
import tokenize

Text = collections.namedtuple("Text", "line words")  # `line`: of the first word, from 1


def read_phrases(path):
    for line in open(path, encoding="utf-8"):
        if "=>" not in line or line.startswith("#"):
            continue
        pattern, replacement = (part.strip() for part in line.split("=>", 1))
        begins, pattern = pattern.startswith("^"), pattern.removeprefix("^")
        pattern = pattern.replace(" ", r"\s+")
        yield re.compile((r"\A" if begins else r"\b") + f"(?:{pattern})" + r"\b", re.I), replacement


def join_lines(numbered):
    """Consecutive lines as one text each: phrases may continue on the next line."""
    texts, last = [], None
    for line, words in numbered:
        if last is not None and line == last + 1:
            texts[-1] = Text(texts[-1].line, texts[-1].words + "\n" + words)
        else:
            texts.append(Text(line, words))
        last = line
    return texts


def comments_of_cpp(source):
    # Strings and characters first, so that "//" in them is no comment.
    token = re.compile(
        r'R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
        r"|//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/",
        re.S,
    )
    numbered = []
    for match in token.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        if match.group("line") is not None:
            numbered.append((line, match.group("line").lstrip("/<! ")))
        elif match.group("block") is not None:
            numbered += enumerate(match.group("block").splitlines(), line)
    return join_lines(numbered)


def comments_of_python(source):
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    texts = join_lines(
        [(t.start[0], t.string.lstrip("# ")) for t in tokens if t.type == tokenize.COMMENT]
    )
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if ast.get_docstring(node):
            constant = node.body[0].value
            texts.append(Text(constant.lineno, constant.value))
    return texts


def prose_of_markdown(source):
    """Without code, addresses of links, and front matter."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    source = re.sub(r"\A---\n.*?\n---\n", blank, source, flags=re.S)
    source = re.sub(r"^(```|~~~).*?^\1[^\n]*$", blank, source, flags=re.S | re.M)
    source = re.sub(r"^    [^\n]*$", blank, source, flags=re.M)
    source = re.sub(r"`[^`]*`", blank, source)
    source = re.sub(r"\]\([^)]*\)", blank, source)
    return [Text(1, source)]


READERS = {".md": prose_of_markdown, ".py": comments_of_python}


def main():
    counting = "--count" in sys.argv[1:]
    files = [argument for argument in sys.argv[1:] if argument != "--count"]
    phrases = list(read_phrases(os.path.join(os.path.dirname(__file__), "phrases.txt")))
    counts = collections.Counter()
    for file in files:
        source = open(file, encoding="utf-8").read()
        reader = READERS.get(os.path.splitext(file)[1], comments_of_cpp)
        for text in reader(source):
            for pattern, replacement in phrases:
                for match in pattern.finditer(text.words):
                    words = " ".join(match.group().split())
                    counts[words.lower()] += 1
                    if not counting:
                        line = text.line + text.words.count("\n", 0, match.start())
                        print(f'{file}:{line}: "{words}"; instead: {replacement}')
    if counting:
        for words, count in counts.most_common():
            print(f"{count:5} {words}")
        print(f"{sum(counts.values()):5} in all, {len(files)} files")
    sys.exit(1 if counts and not counting else 0)


if __name__ == "__main__":
    main()
