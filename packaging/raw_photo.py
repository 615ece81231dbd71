#!/usr/bin/env python3
"""raw_photo.py FILE: writes a small raw photograph (DNG, Bayer mosaic, 14 bits) with noise. The trials
of packages denoise it. Needs nothing but Python; equal calls give equal bytes."""

import random
import struct
import sys

WIDTH, HEIGHT, BLACK, WHITE = 320, 240, 512, 16383
BYTE, TEXT, SHORT, LONG, RATIONAL, SIGNED_RATIONAL = 1, 2, 3, 4, 5, 10


def samples():
    """Returns the mosaic: tiles of different brightness, with noise that grows with brightness."""
    rng = random.Random(1)
    mosaic = bytearray()
    for y in range(HEIGHT):
        for x in range(WIDTH):
            light = 400 + 1300 * ((x // 40 + y // 30) % 4)
            value = BLACK + rng.gauss(light, (60 * 60 + 4 * light) ** 0.5)
            mosaic += struct.pack("<H", min(max(round(value), 0), WHITE))
    return bytes(mosaic)


def fractions(*values):
    return [part for value in values for part in (round(value * 10000), 10000)]


def write(path):
    """Writes a TIFF header, one directory, its longer values, and the samples."""
    codes = {BYTE: "B", TEXT: "B", SHORT: "H", LONG: "I", RATIONAL: "I", SIGNED_RATIONAL: "i"}
    tags = [
        (254, LONG, [0]), (256, LONG, [WIDTH]), (257, LONG, [HEIGHT]), (258, SHORT, [16]),
        (259, SHORT, [1]), (262, SHORT, [32803]), (271, TEXT, b"Lull\0"), (272, TEXT, b"Trial\0"),
        (273, LONG, [0]), (274, SHORT, [1]), (277, SHORT, [1]), (278, LONG, [HEIGHT]),
        (279, LONG, [2 * WIDTH * HEIGHT]), (284, SHORT, [1]), (33421, SHORT, [2, 2]),
        (33422, BYTE, [0, 1, 1, 2]), (50706, BYTE, [1, 4, 0, 0]), (50707, BYTE, [1, 1, 0, 0]),
        (50708, TEXT, b"Lull Trial\0"), (50714, LONG, [BLACK]), (50717, LONG, [WHITE]),
        (50721, SIGNED_RATIONAL, fractions(0.9, -0.2, -0.1, -0.4, 1.3, 0.1, -0.1, 0.2, 0.7)),
        (50728, RATIONAL, fractions(0.5, 1, 0.625)), (50778, SHORT, [21]),
    ]  # fmt: skip
    after_directory = 8 + 2 + 12 * len(tags) + 4
    size_of_longer = sum(
        (len(values) * struct.calcsize(codes[kind]) + 1) // 2 * 2
        for _, kind, values in tags
        if len(values) * struct.calcsize(codes[kind]) > 4
    )
    directory, longer = bytearray(struct.pack("<H", len(tags))), bytearray()
    for tag, kind, values in tags:
        if tag == 273:
            values = [after_directory + size_of_longer]
        data = struct.pack(f"<{len(values)}{codes[kind]}", *values)
        count = len(values) // (2 if kind in (RATIONAL, SIGNED_RATIONAL) else 1)
        if len(data) > 4:
            place = struct.pack("<I", after_directory + len(longer))
            longer += data + bytes(len(data) % 2)
        else:
            place = data.ljust(4, b"\0")
        directory += struct.pack("<HHI", tag, kind, count) + place
    with open(path, "wb") as file:
        file.write(b"II*\0" + struct.pack("<I", 8) + directory + bytes(4) + longer + samples())


if __name__ == "__main__":
    write(sys.argv[1])
