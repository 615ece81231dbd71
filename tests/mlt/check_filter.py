#!/usr/bin/env python3
"""check_filter.py COMMAND MODULE METADATA: runs melt with the filter lulldenoise, and compares its
results with those of the command lull."""

import os
import pathlib
import subprocess
import sys
import tempfile

COMMAND, MODULE, METADATA = sys.argv[1:4]
SCRATCH = pathlib.Path(tempfile.mkdtemp())
WIDTH, HEIGHT, FRAMES = 64, 48, 5
failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)


def linked_folder(name, system, own):
    """Returns a folder with links to everything in `system`, and to our own files."""
    folder = SCRATCH / name
    folder.mkdir()
    for path in pathlib.Path(system).iterdir():
        if path.name not in own:
            (folder / path.name).symlink_to(path)
    for entry, target in own.items():
        (folder / entry).parent.mkdir(exist_ok=True, parents=True)
        (folder / entry).symlink_to(target)
    return folder


def variable(name):
    return subprocess.run(["pkg-config", f"--variable={name}", "mlt-framework-7"], check=True,
                          capture_output=True, text=True).stdout.strip()


MODULES = linked_folder("modules", variable("moduledir"), {pathlib.Path(MODULE).name: MODULE})
DATA = linked_folder("data", variable("mltdatadir"),
                     {"lull/filter_lulldenoise.yml": METADATA})
PROFILE = SCRATCH / "profile"
PROFILE.write_text(f"description=test\nframe_rate_num=25\nframe_rate_den=1\nwidth={WIDTH}\n"
                   f"height={HEIGHT}\nprogressive=1\nsample_aspect_num=1\nsample_aspect_den=1\n"
                   f"display_aspect_num=4\ndisplay_aspect_den=3\ncolorspace=709\n")
ENVIRONMENT = dict(os.environ, MLT_REPOSITORY=str(MODULES), MLT_DATA=str(DATA),
                   QT_QPA_PLATFORM="offscreen")


def melt(*words, seconds=120):
    return subprocess.run(["melt", "-silent", "-profile", str(PROFILE), *words], env=ENVIRONMENT,
                          text=True, capture_output=True, timeout=seconds,
                          stdin=subprocess.DEVNULL)


def clip():
    """Returns a lossless clip with noise in packed 4:2:2, the format in which MLT renders."""
    path = SCRATCH / "in.mkv"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
                    f"color=c=gray:s={WIDTH}x{HEIGHT}:r=25,noise=alls=25:allf=t,format=yuv422p",
                    "-frames:v", str(FRAMES), "-c:v", "ffv1", "-color_range", "tv", "-colorspace",
                    "bt709", path], check=True)
    return path


def rendered(source, *filters):
    """Returns the bytes that melt renders, and its messages.

    About one run of melt in a hundred hangs before its first frame on a busy machine, with or
    without a filter. Such a run is repeated.
    """
    result = SCRATCH / "out.mkv"
    for _ in range(4):
        result.unlink(missing_ok=True)
        try:
            run = melt(str(source), *filters, "-consumer", f"avformat:{result}", "vcodec=ffv1",
                       "pix_fmt=yuv422p", "an=1", "real_time=-1", "terminate_on_pause=1",
                       seconds=30)
        except subprocess.TimeoutExpired:
            continue
        if run.returncode == 0 and result.exists() and result.stat().st_size > 0:
            return planar(result), run.stderr
    sys.exit("melt rendered nothing in four runs")


def planar(path):
    return subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt",
                           "yuv422p", "-frames:v", str(FRAMES), "-"], check=True,
                          capture_output=True).stdout


def check_bytes():
    source = clip()
    plain, _ = rendered(source)
    # What melt itself does to the samples must not count.
    rendered_clip = SCRATCH / "plain.mkv"
    (SCRATCH / "out.mkv").rename(rendered_clip)
    for sigma, options in (("12", []), ("12:6:6", ["profile=fast"])):
        got, messages = rendered(source, "-filter", f"lulldenoise:{sigma}", "device=cpu", *options)
        result = SCRATCH / "command.mkv"
        more = ["--profile", "fast"] if options else []
        subprocess.run([COMMAND, rendered_clip, result, "--sigma", sigma, "--temporal", "0",
                        "--lossless", "--device", "cpu", "-y", "-q", *more], check=True)
        expect(got == planar(result), f"sigma {sigma}: the bytes are not those of the command "
               f"({messages})")
        expect(got != plain, f"sigma {sigma}: nothing was denoised")
    got, _ = rendered(source, "-filter", "lulldenoise", "device=cpu")
    expect(got != plain and len(got) == len(plain), "without sigma: nothing was denoised")
    got, messages = rendered(source, "-filter", "lulldenoise:loud", "device=cpu")
    expect(got == plain and "sigma = 'loud' (must be" in messages, f"bad sigma: {messages}")


def check_metadata():
    """The editor's panel follows from the metadata."""
    run = melt("-query", "filter=lulldenoise")
    for text in ("identifier: lulldenoise", "identifier: sigma", "veryslow", "Denoise (lull)"):
        expect(text in run.stdout, f"the metadata lacks '{text}': {run.stdout}{run.stderr}")


check_bytes()
check_metadata()
for failure in failures:
    print(failure, file=sys.stderr)
sys.exit(1 if failures else 0)
