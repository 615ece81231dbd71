#!/usr/bin/env python3
"""run_howtos.py COMMAND PLUGIN_FOLDER PAGE ...: runs the shell commands of how-to pages, in a
folder with the file clip.mkv (40 frames with noise). Fails if a command fails, or if an output out*
that a command names does not exist. Blocks with a program that is not installed are skipped with a
line."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

COMMAND, PLUGINS = sys.argv[1:3]
BLOCK = re.compile(r"^( *)```sh\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
PROGRAMS = ("ffmpeg", "ffprobe", "HandBrakeCLI", "av1an", "x264", "gst-launch-1.0", "melt")


def missing_program(block):
    words = re.findall(r"[\w.-]+", block)
    return next((p for p in PROGRAMS if p in words and not shutil.which(p)), None)


def run_page(page, environment):
    folder = pathlib.Path(tempfile.mkdtemp())
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
                    "testsrc2=s=96x64:r=25,noise=alls=12:allf=t,format=yuv420p", "-frames:v", "40",
                    "-c:v", "ffv1", folder / "clip.mkv"], check=True)
    blocks = [textwrap.dedent(text)
              for _, text in BLOCK.findall(page.read_text(encoding="utf-8"))]
    if not blocks:
        return "has no commands"
    done = ""
    for block in blocks:
        if missing := missing_program(block):
            print(f"{page.name}: skipped a block ({missing} is not installed)")
            continue
        done += block
        run = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder,
                             env=environment, capture_output=True, text=True, timeout=300)
        if run.returncode != 0:
            return f"this fails:\n{block}{run.stdout}{run.stderr}"
    expected = re.findall(r"\bout[\w.-]*\.(?:mkv|mp4)\b", done)
    absent = [name for name in expected if not (folder / name).exists()]
    return f"{absent[0]} was not written" if absent else None


def main():
    tools = pathlib.Path(tempfile.mkdtemp())
    (tools / "lull").symlink_to(COMMAND)
    environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", LULL_DEVICE="cpu",
                       GST_PLUGIN_PATH=PLUGINS, GST_REGISTRY=str(tools / "registry"))
    failures = 0
    for page in map(pathlib.Path, sys.argv[3:]):
        if problem := run_page(page, environment):
            print(f"{page}: {problem}", file=sys.stderr)
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
