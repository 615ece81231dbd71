"""The plug-in for VapourSynth, compared with the command."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest
import vapoursynth as vs
from clips import PLUGIN, command, core, moving, planes_of, source


def grey(frames):
    return [[np.rint(frame * 255).astype(np.uint8)] for frame in frames]


def yuv420(frames, dtype=np.uint8, white=255):
    half = frames[:, ::2, ::2]
    levels = [np.rint(plane * white).astype(dtype) for plane in (frames, half, 1 - half)]
    return [[plane[k] for plane in levels] for k in range(len(frames))]


def assert_equal(clip, expected, order):
    for n in order:
        frame = clip.get_frame(n)
        for got, plane in zip(planes_of(frame), expected[n]):
            np.testing.assert_array_equal(got, plane, err_msg=f"frame {n}")
        assert frame.props["Number"] == n


def shuffled(count, seed=7):
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


@pytest.mark.parametrize("kinds", ["f", "ffr", "fffffffc", "frrrr", "ffcfr"])
def test_any_order_gives_the_bytes_of_the_command(kinds, tmp_path):
    planes = grey(moving(30, 96, 64, kinds)[0])
    expected = command(planes, "mono", tmp_path, "--sigma", "20")
    clip = source(planes, vs.GRAY8)
    assert_equal(core.lull.Denoise(clip, sigma=20, device="cpu"), expected, range(30))
    assert_equal(core.lull.Denoise(clip, sigma=20, device="cpu"), expected, shuffled(30))
    backwards = core.lull.Denoise(clip, sigma=20, device="cpu")
    assert_equal(backwards, expected, reversed(range(30)))


@pytest.mark.parametrize("kinds", ["f", "ffcfr"])
@pytest.mark.parametrize("matcher", ["window", "cluster"])
def test_non_local_means_gives_the_bytes_of_the_command_in_any_order(kinds, matcher, tmp_path):
    planes = grey(moving(30, 96, 64, kinds)[0])
    options = "--sigma", "20", "--method", "nlm", "--matcher", matcher
    expected = command(planes, "mono", tmp_path, *options)
    clip = source(planes, vs.GRAY8)
    result = core.lull.Denoise(clip, sigma=20, device="cpu", method="nlm", matcher=matcher)
    assert_equal(result, expected, [29, 12, 13, 3, 21])


@pytest.mark.parametrize("profile", ["fast", "high", "paper"])
def test_defaults_equal_those_of_the_command(profile, tmp_path):
    planes = grey(moving(7, 64, 48)[0])
    expected = command(planes, "mono", tmp_path, "--sigma", "10", "--profile", profile)
    clip = core.lull.Denoise(source(planes, vs.GRAY8), sigma=10, profile=profile, device="cpu")
    assert_equal(clip, expected, [4, 0, 6, 1, 2])


def test_still_clip_in_any_order(tmp_path):
    planes = grey(moving(75, 64, 48, "r")[0])
    expected = command(planes, "mono", tmp_path, "--sigma", "20")
    clip = core.lull.Denoise(source(planes, vs.GRAY8), sigma=20, device="cpu")
    assert_equal(clip, expected, [70, 35, 3, 74, 0, 40, 31])


def test_large_planes_are_copied_completely():
    # Several threads copy a plane, and the height is not a multiple of their number.
    rng = np.random.default_rng(3)
    planes = [[rng.random((811, 1003)).astype(np.float32)] for _ in range(2)]
    clip = core.lull.Denoise(source(planes, vs.GRAYS), sigma=0, profile="fast", device="cpu")
    assert_equal(clip, planes, [1, 0])


def test_parallel_requests_give_ordered_frames(tmp_path):
    planes = grey(moving(24, 64, 48)[0])
    expected = command(planes, "mono", tmp_path, "--sigma", "20")
    clip = core.lull.Denoise(source(planes, vs.GRAY8), sigma=20, device="cpu")
    for n, frame in enumerate(clip.frames(prefetch=4)):
        np.testing.assert_array_equal(planes_of(frame)[0], expected[n][0])


@pytest.mark.parametrize(
    "format, tag, dtype, white",
    [(vs.YUV420P8, "420jpeg", np.uint8, 255), (vs.YUV420P10, "420p10", np.uint16, 1023)],
)
def test_layouts_and_depths_equal_the_command(format, tag, dtype, white, tmp_path):
    planes = yuv420(moving(8, 96, 64)[0], dtype, white)
    options = ["--sigma", "20:12:0", "--profile", "fast", "--temporal", "1"]
    expected = command(planes, tag, tmp_path, *options)
    clip = core.lull.Denoise(
        source(planes, format), sigma=[20, 12, 0], profile="fast", temporal=1, device="cpu"
    )
    assert_equal(clip, expected, [5, 0, 1, 2, 7])


@pytest.mark.parametrize("format", [vs.GRAY16, vs.GRAYS, vs.RGB24, vs.RGBS, vs.YUV444P12, vs.YUV422PS])
def test_formats_are_denoised(format):
    clean = moving(4, 96, 64)[1]
    rng = np.random.default_rng(3)
    noisy = [np.clip(clean + rng.normal(0, 20 / 255, clean.shape), 0, 1) for _ in range(3)]
    colour = core.get_video_format(format).color_family
    matrix = {"matrix_s": "709"} if colour == vs.YUV else {}

    def converted(planes):
        clips = [source(grey(plane), vs.GRAY8) for plane in planes]
        one = clips[0] if colour == vs.GRAY else core.std.ShufflePlanes(clips, [0, 0, 0], vs.RGB)
        return one.resize.Point(format=format, **matrix)

    ends = [converted(noisy), converted([clean, clean, clean])]
    sigma = [15, 10, 10] if colour == vs.YUV else 20
    result = core.lull.Denoise(ends[0], sigma=sigma, temporal=0, device="cpu")
    wanted = planes_of(ends[1].get_frame(2))[0].astype(float)
    before, after = (
        np.mean((planes_of(one.get_frame(2))[0] - wanted) ** 2) for one in (ends[0], result)
    )
    assert after < before / 4


def test_a_given_sigma_models_clipping_as_the_command_does(tmp_path):
    clean = 0.2 * moving(12, 96, 64)[1]
    noise = np.random.default_rng(3).normal(0, 0.15, clean.shape)
    planes = grey(np.clip(clean + noise, 0, 1))
    expected = command(planes, "mono", tmp_path, "--sigma", "38")
    result = core.lull.Denoise(source(planes, vs.GRAY8), sigma=38, device="cpu")
    assert_equal(result, expected, range(12))
    # Without the model of clipping the mean is 0.022 too bright.
    assert abs(np.mean([frame[0] for frame in expected]) / 255 - clean.mean()) < 0.005


def test_noise_is_estimated():
    noisy, clean = moving(12, 160, 128)
    result = core.lull.Denoise(source(grey(noisy), vs.GRAY8), device="cpu")
    got = planes_of(result.get_frame(6))[0] / 255
    assert np.mean((got - clean[6]) ** 2) < np.mean((noisy[6] - clean[6]) ** 2) / 8


def test_frame_properties_are_kept():
    clip = source(grey(moving(3, 64, 48)[0]), vs.GRAY8).std.SetFrameProps(Note="kept", _Matrix=1)
    frame = core.lull.Denoise(clip, sigma=5, device="cpu").get_frame(1)
    assert frame.props["Note"] == "kept" and frame.props["_Matrix"] == 1


def test_argument_names_of_bm3dcuda():
    noisy, clean = moving(6, 96, 64)
    clip = source([[frame.astype(np.float32)] for frame in noisy], vs.GRAYS)
    settings = dict(
        sigma=[20, 0, 0], block_step=6, bm_range=9, radius=1, ps_num=2, ps_range=5, chroma=0, fast=1,
        extractor_exp=0, bm_error_s="SSD", transform_2d_s="DCT", transform_1d_s="DCT", zero_init=1,
    )  # fmt: skip
    basic = core.lull.BM3Dv2(clip, **settings)
    final = core.lull.BM3Dv2(clip, ref=basic, **settings)
    error = [
        np.mean((planes_of(one.get_frame(3))[0] - clean[3]) ** 2) for one in (clip, basic, final)
    ]
    assert error[1] < error[0] / 4 and error[2] < error[1]


@pytest.mark.parametrize(
    "function, settings, words",
    [
        ("Denoise", dict(sigma=-1), "sigma = -1"),
        ("Denoise", dict(sigma=[1, 2, 3, 4]), "more than three"),
        ("Denoise", dict(sigma=5, profile="finest"), "profile = 'finest'"),
        ("Denoise", dict(sigma=5, temporal=9), "temporal = 9"),
        ("Denoise", dict(sigma=5, device="tpu"), "device = 'tpu'"),
        ("Denoise", dict(sigma=5, device="cuda:99"), "no GPU"),
        ("Denoise", dict(sigma=5, method="bm4d"), "bm4d"),
        ("BM3Dv2", dict(block_step=9), "block_step = 9"),
        ("BM3Dv2", dict(block_step=[4, 8, 8]), "block_step differs"),
        ("BM3Dv2", dict(radius=9), "radius = 9"),
        ("BM3Dv2", dict(transform_1d_s="haar"), "transform_1d_s"),
        ("BM3Dv2", dict(device_id=99), "no GPU"),
    ],
)
def test_invalid_settings_are_rejected_in_one_line(function, settings, words):
    clip = core.std.BlankClip(format=vs.GRAY8, width=64, height=48, length=2)
    with pytest.raises(vs.Error) as error:
        getattr(core.lull, function)(clip, **settings)
    assert words in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("format", [vs.GRAYH, vs.GRAY32])
def test_unsupported_formats_are_rejected(format):
    clip = core.std.BlankClip(format=format, width=64, height=48, length=2)
    with pytest.raises(vs.Error, match="bits"):
        core.lull.Denoise(clip, sigma=5)


@pytest.mark.parametrize("method", ["bm3d", "nlm"])
def test_guide_gives_the_bytes_of_the_command(method, tmp_path):
    noisy, clean = moving(9, 96, 64)
    planes, guides = grey(noisy), grey(clean)
    folder = tmp_path / "guide"
    folder.mkdir()
    command(guides, "mono", folder, "--sigma", "0")
    expected = command(
        planes, "mono", tmp_path, "--sigma", "20", "--method", method, "--guide", folder / "out.y4m"
    )
    guide = source(guides, vs.GRAY8)
    clip = core.lull.Denoise(
        source(planes, vs.GRAY8), sigma=20, device="cpu", method=method, guide=guide
    )
    assert_equal(clip, expected, shuffled(9))


@pytest.mark.parametrize("method", ["bm3d", "nlm"])
def test_clusters_give_the_bytes_of_the_command(tmp_path, method):
    planes = grey(moving(9, 96, 64)[0])
    options = "--sigma", "20", "--matcher", "cluster", "--cluster", "paper", "--temporal", "1"
    expected = command(planes, "mono", tmp_path, *options, "--method", method)
    clip = core.lull.Denoise(
        source(planes, vs.GRAY8), sigma=20, device="cpu", temporal=1, method=method,
        matcher="cluster", cluster="paper",
    )  # fmt: skip
    assert_equal(clip, expected, shuffled(9))
    with pytest.raises(vs.Error, match="matcher = 'tree'"):
        core.lull.Denoise(source(planes, vs.GRAY8), sigma=20, device="cpu", matcher="tree")


def test_unsuitable_guides_and_changing_clips_are_rejected():
    clip = core.std.BlankClip(format=vs.GRAY8, width=64, height=48, length=2)
    for guide in (clip.resize.Point(width=32), clip.std.Trim(first=1), clip.std.Loop(2)):
        with pytest.raises(vs.Error, match="guide: "):
            core.lull.Denoise(clip, sigma=5, guide=guide)
    changing = core.std.Splice([clip, clip.resize.Point(width=32)], mismatch=True)
    with pytest.raises(vs.Error, match="changes"):
        core.lull.Denoise(changing, sigma=5)


def test_source_may_fail_temporarily():
    # With stronger noise the plug-in would read frames early, to find clipping.
    calls = []

    def fail_once(n, f):
        calls.append(n)
        if n == 5 and calls.count(5) == 1:
            raise ValueError("a bad sector")
        return f

    clip = source(grey(moving(10, 64, 48)[0]), vs.GRAY8)
    broken = core.std.ModifyFrame(clip, clip, fail_once)
    result = core.lull.Denoise(broken, sigma=3, device="cpu")
    with pytest.raises(vs.Error):
        result.get_frame(4)
    whole = core.lull.Denoise(clip, sigma=3, device="cpu")
    np.testing.assert_array_equal(
        planes_of(result.get_frame(4))[0], planes_of(whole.get_frame(4))[0]
    )


def test_plugin_is_found_by_vspipe(tmp_path):
    """Runs a script without a display, with the plug-in in a plug-in folder."""
    bin = os.path.dirname(sys.executable)
    vspipe = os.path.join(bin, "vspipe")
    environment = dict(
        os.environ,
        XDG_CONFIG_HOME=str(tmp_path),
        VAPOURSYNTH_EXTRA_PLUGIN_PATH=os.path.dirname(PLUGIN),
    )
    subprocess.run([os.path.join(bin, "vapoursynth"), "config"], env=environment, check=True)
    script = tmp_path / "script.vpy"
    script.write_text(
        "import vapoursynth as vs\n"
        "clip = vs.core.std.BlankClip(format=vs.YUV420P8, width=64, height=48, length=12)\n"
        "vs.core.lull.Denoise(clip, sigma=[8, 4, 4], device='cpu').set_output()\n"
    )
    done = subprocess.run([vspipe, "-c", "y4m", script, "-"], env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    assert len(done.stdout) > 12 * (64 * 48 * 3 // 2)
