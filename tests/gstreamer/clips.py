"""Raw clips with noise for the tests of plug-ins, and the results of the command for them."""

import random
import struct
import subprocess

WIDTH, HEIGHT = 64, 48

# FFmpeg's and GStreamer's names of a format, its bits, and the subsampling of chroma (log2). In the
# formats of INTERLEAVED, the samples of Cb and Cr alternate, and bits below the sample are unused.
FORMATS = {
    "gray": ("gray8", 8, None),
    "gray16le": ("gray16-le", 16, None),
    "yuv420p": ("i420", 8, (1, 1)),
    "yuv422p": ("y42b", 8, (1, 0)),
    "yuv444p": ("y444", 8, (0, 0)),
    "yuv444p16le": ("y444-16le", 16, (0, 0)),
    "nv12": ("nv12", 8, (1, 1)),
    "p010le": ("p010-10le", 10, (1, 1)),
    "p016le": ("p016-le", 16, (1, 1)),
    "yuv420p10le": ("i420-10le", 10, (1, 1)),
    "yuv422p12le": ("i422-12le", 12, (1, 0)),
    "yuv444p10le": ("y444-10le", 10, (0, 0)),
    "gbrp": ("gbr", 8, (0, 0)),
    "gbrp10le": ("gbr-10le", 10, (0, 0)),
}
INTERLEAVED = {"nv12": 0, "p010le": 6, "p016le": 0}  # unused bits


def plane_sizes(chroma):
    sizes = [(WIDTH, HEIGHT)]
    if chroma:
        sizes += [(WIDTH >> chroma[0], HEIGHT >> chroma[1])] * 2
    return sizes


def interleaved(samples, unused_bits):
    luma, chroma = samples[:WIDTH * HEIGHT], samples[WIDTH * HEIGHT:]
    pairs = zip(chroma[:len(chroma) // 2], chroma[len(chroma) // 2:])
    return [s << unused_bits for s in luma + [s for pair in pairs for s in pair]]


def noisy_frames(ffmpeg_format, count):
    """Returns frames as bytes: gradients that move, with noise. No sample is black or white."""
    _, bits, chroma = FORMATS[ffmpeg_format]
    rng = random.Random(ffmpeg_format)
    scale = 1 << (bits - 8)
    frames = []
    for number in range(count):
        samples = []
        for plane, (width, height) in enumerate(plane_sizes(chroma)):
            for y in range(height):
                for x in range(width):
                    value = 128 + 1.1 * ((x + 2 * number + 13 * plane) % 32) - 0.5 * (y % 16)
                    samples.append(int((value + rng.gauss(0, 8)) * scale))
        if ffmpeg_format in INTERLEAVED:
            samples = interleaved(samples, INTERLEAVED[ffmpeg_format])
        frames.append(struct.pack(f"<{len(samples)}{'B' if bits == 8 else 'H'}", *samples))
    return frames


def denoised(command, source, ffmpeg_format, options):
    """Returns the bytes that the command writes for a raw clip."""
    result = source.with_suffix(".command.raw")
    subprocess.run([command, source, result, "--raw-format", ffmpeg_format, "--size",
                    f"{WIDTH}x{HEIGHT}", "--output-format", "raw", "--device", "cpu", "-y", "-q",
                    *options], check=True)
    return result.read_bytes()
