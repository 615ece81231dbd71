#!/usr/bin/env python3
"""Creates a depth map like that of a stereo camera, and prints the gain of denoising it.

  python3 samples/make_depth.py make FOLDER [SEED]   clean.pgm and noisy.pgm
  python3 samples/make_depth.py show FOLDER          the errors of noisy.pgm and denoised.pgm, and
                                                     before_after.png

The scene is synthetic: a room of slanted planes with boards, balls, cones, poles, a lattice and a
wavy cloth, 0.8 to 8 metres away. The noise is Gaussian and grows with the square of the depth: 2 cm
at 1 metre, 50 cm at 5. Points that one of the two cameras does not see are holes, and so are some
random samples. Samples are 16-bit integers in millimetres; 0 is a hole. Requires only Python.
samples/depth.sh runs all steps.
"""

import math
import pathlib
import random
import struct
import sys
import zlib

WIDTH, HEIGHT = 320, 240
NEAREST = 48.0  # depth in metres times disparity
SIGMA = 0.02    # in metres, at a depth of 1 metre


def objects(rng):
    """Yields functions of (x, y) in 0..1 that return the disparity of an object; None outside of it."""
    far, along, down = 6 + 3 * rng.random(), 8 * (rng.random() - 0.5), 5 * (rng.random() - 0.5)
    yield lambda x, y: far + along * (x - 0.5) + down * (y - 0.5)
    edge, steep = rng.uniform(0.5, 0.75), rng.uniform(15, 30)
    yield lambda x, y: far + along * (x - 0.5) + (y - edge) / (1 - edge) * steep if y > edge else None
    for kind in range(12):
        cx, cy, near = rng.random(), rng.random(), rng.uniform(12, 48)
        a, b = rng.uniform(0.05, 0.2), rng.uniform(0.08, 0.2)
        s, t, turn = rng.uniform(-40, 40), rng.uniform(-40, 40), rng.uniform(0, math.pi)

        def board(x, y, cx=cx, cy=cy, near=near, a=a, b=b, s=s, t=t, turn=turn):
            u = (x - cx) * math.cos(turn) + (y - cy) * math.sin(turn)
            v = (y - cy) * math.cos(turn) - (x - cx) * math.sin(turn)
            return near + s * u + t * v if abs(u) < a and abs(v) < b else None

        def ball(x, y, cx=cx, cy=cy, near=near, a=a, s=s):
            rest = a * a - ((x - cx) * WIDTH / HEIGHT) ** 2 - (y - cy) ** 2
            return near + math.sqrt(rest) * (10 + abs(s)) if rest > 0 else None

        def cone(x, y, cx=cx, cy=cy, near=near, a=a, b=b, s=s):
            v = (y - cy) / (2 * b)
            rest = (a * v) ** 2 - (x - cx) ** 2
            return near + math.sqrt(rest) * (20 + abs(s)) if 0 < v < 1 and rest > 0 else None

        def pole(x, y, cx=cx, cy=cy, near=near, b=b, turn=turn):
            u = x - cx + (y - cy) * (turn - 1.5) / 3
            return near if abs(u) < 0.006 and abs(y - cy) < 3 * b else None

        def lattice(x, y, cx=cx, cy=cy, near=near, s=s):
            bar = x / 0.035 % 1 < 0.35 or y / 0.05 % 1 < 0.35
            inside = abs(x - cx) < 0.18 and abs(y - cy) < 0.18
            return near + s / 2 * (x - cx) if bar and inside else None

        def cloth(x, y, cx=cx, cy=cy, near=near, a=a, b=b, s=s, t=t):
            wave = 2 * math.sin(x * (10 + abs(s)) + y * t / 2)
            return near + wave if abs(x - cx) < a and abs(y - cy) < b else None

        yield (board, ball, cone, pole, lattice, cloth)[kind % 6]


def make_scene(rng):
    """Returns the disparities row by row."""
    scene = list(objects(rng))
    rows = []
    for j in range(HEIGHT):
        y = j / HEIGHT
        row = []
        for i in range(WIDTH):
            disparities = [d for depth_at in scene if (d := depth_at(i / WIDTH, y)) is not None]
            row.append(min(max(max(disparities), 6.0), 60.0))
        rows.append(row)
    return rows


def hidden(row):
    """Returns where a nearer object hides the point from the other camera."""
    nearest = {}
    for i, d in enumerate(row):
        place = i - int(d / 3)
        if d > nearest.get(place, 0):
            nearest[place] = d
    return [d + 2 < nearest[i - int(d / 3)] for i, d in enumerate(row)]


def write_pgm(path, rows):
    with open(path, "wb") as file:
        file.write(f"P5\n{WIDTH} {HEIGHT}\n65535\n".encode())
        for row in rows:
            values = [0 if math.isnan(z) else max(round(1000 * z), 1) for z in row]
            file.write(struct.pack(f">{WIDTH}H", *values))


def read_pgm(path):
    data = pathlib.Path(path).read_bytes()[-2 * WIDTH * HEIGHT:]
    values = struct.unpack(f">{WIDTH * HEIGHT}H", data)
    return [[v / 1000 if v else math.nan for v in values[WIDTH * y:WIDTH * (y + 1)]]
            for y in range(HEIGHT)]


def make(folder, seed):
    rng = random.Random(seed)
    scene = make_scene(rng)
    clean, noisy = [], []
    for row in scene:
        holes = hidden(row)
        clean.append([NEAREST / d for d in row])
        noisy.append([math.nan if hole or rng.random() < 0.003 else z + rng.gauss(0, SIGMA * z * z)
                      for z, hole in zip(clean[-1], holes)])
    folder.mkdir(parents=True, exist_ok=True)
    write_pgm(folder / "clean.pgm", clean)
    write_pgm(folder / "noisy.pgm", noisy)


def error(clean, rows):
    """Returns the root mean square error in units of z^2, in which the noise is uniform."""
    squares = [((v - z) / (z * z)) ** 2
               for a, b in zip(clean, rows) for z, v in zip(a, b) if not math.isnan(v)]
    return math.sqrt(sum(squares) / len(squares))


def colour(z):
    """Returns a colour from near (warm) to far (cold); holes are black."""
    if math.isnan(z):
        return 0, 0, 0
    t = min(max((NEAREST / max(z, 0.1) - 6) / 54, 0), 1)
    return tuple(int(255 * min(max(1.5 - abs(4 * t - place), 0), 1)) for place in (3, 2, 1))


def write_png(path, rows):
    lines = b"".join(b"\0" + bytes(v for z in row for v in colour(z)) for row in rows)
    size = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for name, data in ((b"IHDR", size), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")):
            check = zlib.crc32(name + data)
            file.write(struct.pack(">I", len(data)) + name + data + struct.pack(">I", check))


def show(folder):
    clean, noisy, denoised = (read_pgm(folder / f"{name}.pgm")
                              for name in ("clean", "noisy", "denoised"))
    print(f"error at 1 metre: {1000 * error(clean, noisy):.1f} mm before, "
          f"{1000 * error(clean, denoised):.1f} mm after")
    gap = [math.nan] * 4
    write_png(folder / "before_after.png",
              [list(a) + gap + list(b) + gap + list(c) for a, b, c in zip(noisy, denoised, clean)])


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("make", "show"):
        sys.exit(__doc__)
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    else:
        show(pathlib.Path(sys.argv[2]))
