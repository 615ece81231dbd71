#!/usr/bin/env python3
"""scripts_test.py ROOT SCRATCH: functions of ./run and of the scripts in packaging/, with programs
that imitate nvcc, nvidia-smi and git on some machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT, SCRATCH = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
LONG_TEXT = "for i in {1..20000}; do echo option of a long help; done\n"


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/usr/bin/env bash\n{text}")
    path.chmod(0o755)


def call(script, folder=ROOT, **environment):
    """Runs a script of bash with SCRATCH/bin first on the PATH."""
    path = f"{SCRATCH.resolve() / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(["bash", "-c", f"set -euo pipefail\n{script}"], cwd=folder,
                          env=dict(os.environ, PATH=path, **environment), capture_output=True, text=True)


def flags_of_portable_build():
    """Returns the CUDA flags that the portable build gives to CMake."""
    result = call("""
        trees=/trees; source packaging/portable/build.sh
        prefix_map() { :; }
        configure_release() { printf '%s\\n' "$@"; }
        configure_portable""")
    assert result.returncode == 0, (result.returncode, result.stderr)
    return [line for line in result.stdout.splitlines() if line.startswith("-DCMAKE_CUDA_FLAGS=")]


def test_portable_build_compresses_kernels_if_nvcc_can():
    write_program(SCRATCH / "bin/nvcc", f"echo ' --compress-mode'\n{LONG_TEXT}")
    assert flags_of_portable_build() == ["-DCMAKE_CUDA_FLAGS=--compress-mode=size"]
    write_program(SCRATCH / "bin/nvcc", LONG_TEXT)  # before 12.8
    assert flags_of_portable_build() == ["-DCMAKE_CUDA_FLAGS="]


def test_flags_of_a_build_in_a_folder_with_spaces():
    folder = SCRATCH / "my code"
    folder.mkdir(parents=True)
    function = next(line for line in (ROOT / "packaging/package.sh").read_text().splitlines()
                    if line.startswith("prefix_map()"))
    result = call(f"{function}\neval \"printf '%s\\\\n' $(prefix_map)\"", folder)
    assert result.stdout.splitlines() == [f"-ffile-prefix-map={folder.resolve()}=/usr/src/lull"] * 2, result


def test_portable_build_notes_what_the_sbom_states():
    trees, out = SCRATCH / "trees", SCRATCH / "out"
    for file, text in ((trees / "libraries/prefix/sources.txt", "zlib 9.9 Zlib\n"),
                       (trees / "tree/CMakeCache.txt", "LULL_CUDA:BOOL=ON\n")):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    out.mkdir()
    script = f"trees='{trees.resolve()}' out='{out.resolve()}'; source packaging/portable/build.sh; note_contents wheels"
    assert call(script).returncode == 0
    assert (out / ".cuda-wheels").exists() and (out / ".sources.txt").read_text() == "zlib 9.9 Zlib\n"
    (trees / "tree/CMakeCache.txt").write_text("LULL_CUDA:BOOL=OFF\n")
    assert call(script).returncode == 0
    assert not (out / ".cuda-wheels").exists()


def test_run_finds_gpus_in_a_long_list():
    write_program(SCRATCH / "bin/nvidia-smi", f"echo 'GPU 0: NVIDIA H200'\n{LONG_TEXT}")
    assert call("source ./run help; has_gpu").returncode == 0
    write_program(SCRATCH / "bin/nvidia-smi", "echo 'No devices found.'")
    assert call("source ./run help; has_gpu").returncode == 1


def test_run_does_not_use_an_old_nvcc():
    write_program(SCRATCH / "bin/nvcc", "echo 'Cuda compilation tools, release 11.8, V11.8.89'")
    result = call('source ./run help; find_cuda && [[ $(command -v nvcc) != $OLD_NVCC ]]', OLD_NVCC=str(SCRATCH.resolve() / "bin/nvcc"))
    assert result.returncode == 0 or "is older than CUDA 12.0" in result.stderr, result
    write_program(SCRATCH / "bin/nvcc", "echo 'Cuda compilation tools, release 12.0, V12.0.76'")
    result = call("source ./run help; find_cuda; command -v nvcc")
    assert result.stdout.splitlines()[-1] == str(SCRATCH.resolve() / "bin/nvcc"), result


def make_source_inside_another_repository():
    """Returns a folder with a part of lull's source, as an archive has it, inside a git repository."""
    outer = SCRATCH / "outer"
    source = outer / "lull"
    for name in ("cmake", "packaging"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("source_date"))
    for command in (["init", "-q"], ["add", "."],
                    ["-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x"]):
        subprocess.run(["git", "-C", outer, *command], check=True)
    return source


def test_commit_and_time_are_not_those_of_another_repository():
    source = make_source_inside_another_repository()
    header = SCRATCH.resolve() / "commit.h"
    subprocess.run(["cmake", f"-DSOURCE={source.resolve()}", f"-DHEADER={header}", "-P",
                    ROOT / "cmake/LullCommit.cmake"], check=True)
    assert 'commit[] = "unknown"' in header.read_text(), header.read_text()
    script = "unset SOURCE_DATE_EPOCH; source packaging/common.sh; echo $SOURCE_DATE_EPOCH"
    result = call(script, source)
    assert result.returncode == 69 and "set SOURCE_DATE_EPOCH" in result.stderr, result
    (source / "packaging/source_date").write_text("1700000000\n")
    assert call(script, source).stdout == "1700000000\n"


def test_run_replaces_a_venv_of_another_python():
    tree = SCRATCH / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("run", "python/requirements.txt", "tests/requirements.txt"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    venv = tree / "build/python/venv"
    write_program(venv / "bin/python", "exit 1")  # without pip, as after an upgrade of Python
    requirements = [(tree / name).read_text() for name in ("python/requirements.txt", "tests/requirements.txt")]
    (venv / "done.txt").write_text("".join(requirements))
    write_program(SCRATCH / "bin/python3", """
        if [[ $1 == -m ]]; then mkdir -p "$3/bin"; touch "$3/new"; cp "$0" "$3/bin/pip"; cp "$0" "$3/bin/python"; fi""")
    result = call("source ./run help; prepare_python", tree)
    assert result.returncode == 0 and (venv / "new").exists(), result


for name, test in list(globals().items()):
    if name.startswith("test_"):
        shutil.rmtree(SCRATCH, ignore_errors=True)
        test()
