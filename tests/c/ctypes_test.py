"""ctypes_test.py LIBRARY COMMAND: uses the C library from Python, without any other package.

The result of a picture must be that of the command.
"""

import ctypes
import random
import subprocess
import sys
import tempfile
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_ssize_t, c_void_p
from pathlib import Path

WIDTH, HEIGHT = 60, 44
RELEASE = ctypes.CFUNCTYPE(None, c_void_p)
LOG = ctypes.CFUNCTYPE(None, c_int32, c_char_p, c_void_p)


class Format(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("width", c_int32), ("height", c_int32), ("layout", c_int32),
        ("sample", c_int32), ("bits", c_int32), ("shift_x", c_int32), ("shift_y", c_int32),
        ("white", ctypes.c_float), ("content", c_int32), ("frames", c_int32),
    ]  # fmt: skip


class Plane(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("row_stride", c_ssize_t), ("sample_stride", c_ssize_t)]


class Frame(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t), ("planes", Plane * 3), ("memory", c_int32), ("device", c_int32),
        ("stream", c_void_p), ("fd", c_int32), ("is_numbered", c_int32), ("number", c_int64),
        ("tag", c_int64), ("release", RELEASE), ("user", c_void_p),
    ]  # fmt: skip


library = ctypes.CDLL(sys.argv[1])
for name in ("lull_version", "lull_last_error", "lull_session_error"):
    getattr(library, name).restype = c_char_p
library.lull_session_error.argtypes = [c_void_p]
library.lull_params_new.argtypes = [POINTER(c_void_p)]
library.lull_params_set.argtypes = [c_void_p, c_char_p, c_char_p]
library.lull_params_free.argtypes = [c_void_p]
library.lull_session_open.argtypes = [POINTER(Format), c_void_p, c_void_p, POINTER(c_void_p)]
library.lull_session_close.argtypes = [c_void_p]
library.lull_push.argtypes = library.lull_drain.argtypes = [c_void_p, POINTER(Frame)]
library.lull_set_log.argtypes = [LOG, c_void_p]


def check(status: int) -> None:
    if status != 0:
        raise SystemExit(f"status {status}: {library.lull_last_error().decode()}")


def frame_of(buffer) -> Frame:
    frame = Frame(size=ctypes.sizeof(Frame))
    frame.planes[0] = Plane(ctypes.addressof(buffer), WIDTH, 0)
    return frame


random.seed(3)
noisy = bytes(
    min(255, max(0, round(90 + 60 * ((x // 9 + y // 7) % 2) + random.gauss(0, 15))))
    for y in range(HEIGHT)
    for x in range(WIDTH)
)

lines = []
log = LOG(lambda level, text, user: lines.append(text.decode()))
check(library.lull_set_log(log, None))
params = c_void_p()
check(library.lull_params_new(byref(params)))
for name, value in (("sigma", "15"), ("profile", "fast"), ("device", "cpu")):
    check(library.lull_params_set(params, name.encode(), value.encode()))
assert library.lull_params_set(params, b"sigma", b"many") == -1
assert b"sigma" in library.lull_last_error(), library.lull_last_error()

format = Format(size=ctypes.sizeof(Format), width=WIDTH, height=HEIGHT, content=1)
session = c_void_p()
check(library.lull_session_open(byref(format), params, None, byref(session)))
library.lull_params_free(params)

source = ctypes.create_string_buffer(noisy, len(noisy))
released = []
frame = frame_of(source)
frame.release = RELEASE(released.append)
frame.user = 42
frame.tag = 7
check(library.lull_push(session, byref(frame)))
clean = ctypes.create_string_buffer(len(noisy))
result = frame_of(clean)
check(library.lull_drain(session, byref(result)))
assert result.tag == 7 and released == [42], (result.tag, released)
assert library.lull_drain(session, byref(result)) == 1
result.size = 5
assert library.lull_drain(session, byref(result)) == -1
assert b"size" in library.lull_session_error(session)
library.lull_session_close(session)

with tempfile.TemporaryDirectory() as folder:
    picture, output = Path(folder, "in.pgm"), Path(folder, "out.pgm")
    picture.write_bytes(b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + noisy)
    command = [sys.argv[2], picture, output, "--sigma", "15", "--profile", "fast", "--device", "cpu"]
    subprocess.run([*command, "--quiet"], check=True)
    expected = output.read_bytes()[-len(noisy):]
assert clean.raw == expected, "the command gives another result"
assert clean.raw != noisy
print(f"ctypes: liblull {library.lull_version().decode()} gives the bytes of the command")
