#!/usr/bin/env python3
"""Creates samples/coffee.mkv: a slow pan and zoom over a photograph, with a tone.

  python3 -m venv venv && venv/bin/pip install numpy pillow scikit-image==0.26.0
  venv/bin/python samples/make_clip.py samples/coffee.mkv

The photograph is `coffee` of scikit-image (Rachel Michetti, courtesy of Pikolo Espresso Bar; CC0,
as skimage.data.coffee states). Requires the ffmpeg command with libx264. The clip has no noise:
./run demo adds noise of a known level, so that the PSNR refers to exactly these frames.
"""

import math
import pathlib
import subprocess
import sys

import PIL.Image

WIDTH, HEIGHT = 480, 270
RATE, FRAMES = 24, 72
WIDE, CLOSE = 580.0, 500.0  # width of the visible part of the photograph, at the start and at the end


def frame(photo, position):
    """Returns the view at `position` from 0 to 1: the camera moves closer and to the right."""
    ease = (1 - math.cos(math.pi * position)) / 2
    width = WIDE + (CLOSE - WIDE) * ease
    height = width * HEIGHT / WIDTH
    left = (photo.width - width) * (0.15 + 0.7 * ease)
    top = (photo.height - height) * (0.35 + 0.2 * ease)
    box = (left, top, left + width, top + height)
    return photo.resize((WIDTH, HEIGHT), PIL.Image.Resampling.LANCZOS, box=box)


def find_photo():
    import importlib.util

    package = importlib.util.find_spec("skimage").submodule_search_locations[0]
    return pathlib.Path(package) / "data" / "coffee.png"


def main():
    output = sys.argv[1]
    photo = PIL.Image.open(sys.argv[2] if len(sys.argv) > 2 else find_photo()).convert("RGB")
    colours = ["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709",
               "-color_range", "tv"]
    command = [
        "ffmpeg", "-hide_banner", "-loglevel", "error", "-y",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{WIDTH}x{HEIGHT}", "-r", str(RATE), "-i", "-",
        "-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=48000:duration={FRAMES / RATE}",
        "-vf", "scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd+full_chroma_int",
        "-pix_fmt", "yuv420p", *colours,
        "-c:v", "libx264", "-preset", "veryslow", "-crf", "12", "-threads", "1",
        "-c:a", "aac", "-b:a", "64k", "-bitexact",
        "-metadata", "title=coffee: a clip for lull's demo",
        "-metadata", "comment=photograph: Rachel Michetti, Pikolo Espresso Bar, CC0", output]
    encoder = subprocess.Popen(command, stdin=subprocess.PIPE)
    for i in range(FRAMES):
        encoder.stdin.write(frame(photo, i / (FRAMES - 1)).tobytes())
    encoder.stdin.close()
    sys.exit(encoder.wait())


if __name__ == "__main__":
    main()
