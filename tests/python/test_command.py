"""The command inside the Python module, beside the program lull."""

import os
import signal
import subprocess
import sys

import pytest

from lull import _core
from pictures import noise_like, scene

if not hasattr(_core, "run_command"):
    pytest.skip("the module is built without the command (LULL_WHEEL_COMMAND)", allow_module_level=True)

MODULE = [sys.executable, "-m", "lull"]
PROGRAM = [os.environ["LULL_COMMAND"]]


def run(command, *arguments, **options):
    return subprocess.run([*command, *arguments], capture_output=True, timeout=120, **options)


def write_pgm(path, width=96, height=64):
    samples = 255 * (scene(height, width) + noise_like(scene(height, width), 0.05))
    path.write_bytes(b"P5 %d %d 255\n" % (width, height) + samples.clip(0, 255).astype("u1").tobytes())


def same(*arguments, **options):
    module, program = run(MODULE, *arguments, **options), run(PROGRAM, *arguments, **options)
    assert module.returncode == program.returncode
    assert (module.stdout, module.stderr) == (program.stdout, program.stderr)
    return module


def test_version_equals_the_version_of_the_program():
    assert same("--version").stdout.startswith(b"lull ")


def test_an_unknown_option_is_refused_as_by_the_program():
    assert same("in.png", "out.png", "--no-such-option").returncode == 2


def test_an_output_that_cannot_be_written_is_reported_as_by_the_program():
    with open("/dev/full", "wb") as full:
        for command in MODULE, PROGRAM:
            done = subprocess.run([*command, "--help"], stdout=full, stderr=subprocess.PIPE, timeout=120)
            assert done.returncode == 74
            assert done.stderr.count(b"\n") == 1


def test_a_picture_has_the_bytes_of_the_program(tmp_path):
    write_pgm(tmp_path / "in.pgm")
    for command, name in (MODULE, "module.pgm"), (PROGRAM, "program.pgm"):
        assert run(command, "in.pgm", name, cwd=tmp_path).returncode == 0
    assert (tmp_path / "module.pgm").read_bytes() == (tmp_path / "program.pgm").read_bytes()
    assert (tmp_path / "module.pgm").read_bytes() != (tmp_path / "in.pgm").read_bytes()


def test_file_names_need_not_be_utf8(tmp_path):
    write_pgm(tmp_path / os.fsdecode(b"in\xff.pgm"))
    assert run(MODULE, b"in\xff.pgm", b"out\xff.pgm", cwd=tmp_path).returncode == 0
    assert (tmp_path / os.fsdecode(b"out\xff.pgm")).stat().st_size > 96 * 64


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_run_without_an_output(tmp_path, number):
    arguments = ["-", "out.y4m", "--sigma", "10", "--progress", "json"]
    process = subprocess.Popen([*MODULE, *arguments], cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdin.write(b"YUV4MPEG2 W64 H64 F25:1 Ip A1:1 Cmono\n")
    process.stdin.write((b"FRAME\n" + bytes(64 * 64)) * 20)
    process.stdin.flush()
    assert process.stderr.readline()  # the run has begun
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert os.listdir(tmp_path) == []


def test_the_command_does_not_import_numpy():
    text = "import sys; import lull._command; sys.exit('numpy' in sys.modules)"
    assert run([sys.executable], "-c", text).returncode == 0


def test_all_names_of_the_package_can_be_used():
    import lull

    assert set(lull.__all__) <= set(dir(lull))
    for name in lull.__all__:
        getattr(lull, name)
    with pytest.raises(AttributeError, match="no_such_name"):
        lull.no_such_name
