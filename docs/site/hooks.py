"""MkDocs hooks: pages and files of the repository that lie outside docs/.

A Markdown file of OUTSIDE becomes a page of the site. Any other file that a page links to is copied
to source/ of the site. Links are rewritten, so that the same Markdown works in the repository and
on the site. The C++ reference of Doxygen (build/docs/cpp-api) becomes reference/cpp-api."""

import posixpath
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
CPP_API = ROOT / "build/docs/cpp-api"

# Markdown files outside docs/ and their pages on the site.
OUTSIDE = {
    "ARCHITECTURE.md": "how-it-works/architecture.md",
    "farm/README.md": "how-to/farm/index.md",
    "farm/slurm/README.md": "how-to/farm/slurm.md",
    "farm/openjd/README.md": "how-to/farm/openjd.md",
    "farm/kubernetes/README.md": "how-to/farm/kubernetes.md",
    "farm/aws-batch/README.md": "how-to/farm/aws-batch.md",
    "samples/README.md": "project/samples.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changelog.md",
    "LICENSE": "project/licence.txt",
}
REPOSITORY_PATH = {page: path for path, page in OUTSIDE.items()}

LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s]+)\)")
FENCE = re.compile(r"^( *)```.*?^\1```", re.MULTILINE | re.DOTALL)


def repository_path(src_uri):
    """Returns the path of a page's Markdown file in the repository."""
    return REPOSITORY_PATH.get(src_uri, "docs/" + src_uri)


def site_uri(path):
    """Returns the path of a file of the repository on the site."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if posixpath.join(path, "README.md") in OUTSIDE:
        return OUTSIDE[posixpath.join(path, "README.md")]
    if path.startswith("docs/"):
        return path[len("docs/"):]
    return "source/" + path


def target_path(target, page_path):
    """Returns the repository path of a relative link, and None for all other links."""
    if re.match(r"[a-z][a-z0-9+.-]*:|#|/", target):
        return None
    path = posixpath.join(posixpath.dirname(page_path), target.partition("#")[0])
    return posixpath.normpath(path)


def without_fences(text):
    return FENCE.sub("", text)


def on_files(files, config):
    if not (CPP_API / "index.html").is_file():
        raise PluginError("no build/docs/cpp-api; run docs/site/build.sh, which calls Doxygen")
    pages = {file.src_uri: Path(file.abs_src_path) for file in files.documentation_pages()}
    for path, page in OUTSIDE.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / path)))
        if page.endswith(".md"):
            pages[page] = ROOT / path
    for file in sorted(CPP_API.rglob("*")):
        if file.is_file():
            uri = "reference/cpp-api/" + file.relative_to(CPP_API).as_posix()
            files.append(File.generated(config, uri, abs_src_path=str(file)))
    linked = set()
    for src_uri, source in pages.items():
        for _, target in LINK.findall(without_fences(source.read_text(encoding="utf-8"))):
            path = target_path(target, repository_path(src_uri))
            if path and site_uri(path).startswith("source/") and (ROOT / path).is_file():
                linked.add(path)
    for path in sorted(linked):
        files.append(File.generated(config, site_uri(path), abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown, page, **_):
    here = repository_path(page.file.src_uri)

    def rewritten(link):
        path = target_path(link[2], here)
        if path is None:
            return link[0]
        uri = posixpath.relpath(site_uri(path), posixpath.dirname(page.file.src_uri))
        anchor = link[2].partition("#")[2]
        return f"{link[1]}({uri}{'#' + anchor if anchor else ''})"

    # Code blocks stay as they are.
    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [LINK.sub(rewritten, markdown[end:fence.start()]), fence[0]]
        end = fence.end()
    return "".join(parts) + LINK.sub(rewritten, markdown[end:])
