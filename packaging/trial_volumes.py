#!/usr/bin/env python3
"""trial_volumes.py FOLDER: writes FOLDER/dicom (a DICOM series) and FOLDER/cells.zarr (an OME-Zarr
store), two small volumes with noise. The trials of packages denoise them. Needs nothing but Python;
equal calls give equal bytes.

The files fail without the parts of DCMTK and c-blosc that a package may lack. Half of the DICOM files
have an implicit VR, so that a reader needs the dictionary of attributes. The others have compressed
samples (RLE), so that a reader needs a decoder. The Zarr chunks are Blosc buffers for zstd."""

import json
import random
import struct
import sys
from pathlib import Path

WIDTH, HEIGHT, DEPTH = 64, 48, 12
IMPLICIT, RLE = "1.2.840.10008.1.2", "1.2.840.10008.1.2.5"
MR_IMAGE = "1.2.840.10008.5.1.4.1.1.4"
ROOT = "1.2.826.0.1.3680043.10.1"
LONG_LENGTHS = (b"OB", b"OW", b"SQ", b"UN")


def slices():
    """Returns the slices: blocks of different brightness, with noise."""
    rng = random.Random(1)
    result = []
    for z in range(DEPTH):
        plane = []
        for y in range(HEIGHT):
            for x in range(WIDTH):
                light = 300 + 400 * ((x // 16 + y // 12 + z // 4) % 4)
                plane.append(max(round(rng.gauss(light, 40)), 0))
        result.append(plane)
    return result


def element(group, number, vr, value, is_explicit):
    """Returns an attribute of a data set, padded to an even length."""
    if isinstance(value, int):
        value = struct.pack("<H", value)
    elif isinstance(value, str):
        value = value.encode() + (b"\0" if vr == b"UI" else b" ") * (len(value) % 2)
    tag = struct.pack("<HH", group, number)
    if not is_explicit:
        return tag + struct.pack("<I", len(value)) + value
    if vr in LONG_LENGTHS:
        return tag + vr + struct.pack("<HI", 0, len(value)) + value
    return tag + vr + struct.pack("<H", len(value)) + value


def literal_runs(data):
    """Returns bytes in the RLE of DICOM, without any repetition."""
    runs = b"".join(
        bytes([len(data[at : at + 128]) - 1]) + data[at : at + 128] for at in range(0, len(data), 128)
    )
    return runs + bytes(len(runs) % 2)


def rle_samples(plane):
    """Returns the element Pixel Data with one frame in RLE: the high bytes, then the low bytes."""
    segments = [literal_runs(bytes(s >> 8 for s in plane)), literal_runs(bytes(s & 255 for s in plane))]
    header = struct.pack("<16I", 2, 64, 64 + len(segments[0]), *([0] * 13))
    frame = header + b"".join(segments)
    item = struct.pack("<HHI", 0xFFFE, 0xE000, 0)  # an empty table of offsets
    item += struct.pack("<HHI", 0xFFFE, 0xE000, len(frame)) + frame
    end = struct.pack("<HHI", 0xFFFE, 0xE0DD, 0)
    return struct.pack("<HH", 0x7FE0, 0x0010) + b"OB" + struct.pack("<HI", 0, 0xFFFFFFFF) + item + end


def dicom_file(plane, z):
    """Returns a DICOM file with one slice."""
    syntax = RLE if z % 2 else IMPLICIT
    uid = f"{ROOT}.3.{z + 1}"
    attributes = [
        (0x0008, 0x0016, b"UI", MR_IMAGE), (0x0008, 0x0018, b"UI", uid), (0x0008, 0x0060, b"CS", "MR"),
        (0x0010, 0x0010, b"PN", "Trial"), (0x0020, 0x000D, b"UI", f"{ROOT}.1"),
        (0x0020, 0x000E, b"UI", f"{ROOT}.2"), (0x0020, 0x0011, b"IS", "1"),
        (0x0020, 0x0013, b"IS", str(z + 1)), (0x0020, 0x0032, b"DS", f"0\\0\\{2 * z}"),
        (0x0020, 0x0037, b"DS", "1\\0\\0\\0\\1\\0"), (0x0028, 0x0002, b"US", 1),
        (0x0028, 0x0004, b"CS", "MONOCHROME2"), (0x0028, 0x0010, b"US", HEIGHT),
        (0x0028, 0x0011, b"US", WIDTH), (0x0028, 0x0030, b"DS", "1\\1"), (0x0028, 0x0100, b"US", 16),
        (0x0028, 0x0101, b"US", 16), (0x0028, 0x0102, b"US", 15), (0x0028, 0x0103, b"US", 0),
    ]  # fmt: skip
    is_explicit = syntax == RLE
    data = b"".join(element(*attribute, is_explicit) for attribute in attributes)
    if is_explicit:
        data += rle_samples(plane)
    else:
        samples = struct.pack(f"<{len(plane)}H", *plane)
        data += element(0x7FE0, 0x0010, b"OW", samples, is_explicit)
    meta = b"".join(
        element(0x0002, number, vr, value, True)
        for number, vr, value in [
            (0x0001, b"OB", b"\0\1"), (0x0002, b"UI", MR_IMAGE), (0x0003, b"UI", uid),
            (0x0010, b"UI", syntax), (0x0012, b"UI", f"{ROOT}.4"),
        ]
    )  # fmt: skip
    length = element(0x0002, 0x0000, b"UL", struct.pack("<I", len(meta)), True)
    return bytes(128) + b"DICM" + length + meta + data


def blosc_buffer(samples):
    """Returns a Blosc buffer that contains its bytes without compression."""
    version, format_version, is_copy, sample_bytes = 2, 1, 2, 2
    head = struct.pack("<4B", version, format_version, is_copy, sample_bytes)
    return head + struct.pack("<3I", len(samples), len(samples), len(samples) + 16) + samples


def write_dicom(folder, planes):
    folder.mkdir()
    for z, plane in enumerate(planes):
        (folder / f"slice_{z:02}.dcm").write_bytes(dicom_file(plane, z))


def write_zarr(folder, planes):
    """Writes an image of OME-NGFF 0.4 with one chunk for each slice."""
    (folder / "0").mkdir(parents=True)
    array = {
        "zarr_format": 2, "shape": [DEPTH, HEIGHT, WIDTH], "chunks": [1, HEIGHT, WIDTH], "dtype": "<u2",
        "compressor": {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 1, "blocksize": 0},
        "fill_value": 0, "order": "C", "filters": None, "dimension_separator": "/",
    }  # fmt: skip
    axes = [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    scale = [{"type": "scale", "scale": [2, 1, 1]}]
    image = {
        "version": "0.4", "axes": axes, "datasets": [{"path": "0", "coordinateTransformations": scale}]
    }  # fmt: skip
    (folder / ".zgroup").write_text(json.dumps({"zarr_format": 2}))
    (folder / ".zattrs").write_text(json.dumps({"multiscales": [image]}))
    (folder / "0" / ".zarray").write_text(json.dumps(array))
    for z, plane in enumerate(planes):
        chunk = folder / "0" / str(z) / "0" / "0"
        chunk.parent.mkdir(parents=True)
        chunk.write_bytes(blosc_buffer(struct.pack(f"<{len(plane)}H", *plane)))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    volume = slices()
    write_dicom(target / "dicom", volume)
    write_zarr(target / "cells.zarr", volume)
