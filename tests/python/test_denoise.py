"""lull.denoise: results, their types and units."""

import ctypes
import mmap

import lull
import numpy as np
import pytest
from pictures import clip, noise_like, psnr, scene, volume

SIGMA = 20 / 255
CLEAN = scene()
NOISY = CLEAN + noise_like(CLEAN, SIGMA)


def test_picture_improves():
    result = lull.denoise(NOISY, SIGMA)
    assert result.shape == NOISY.shape and result.dtype == NOISY.dtype
    assert psnr(CLEAN, result) > psnr(CLEAN, NOISY) + 8


def test_every_profile_improves():
    levels = [
        psnr(CLEAN, lull.denoise(NOISY, SIGMA, profile=p))
        for p in ("fast", "balanced", "high", "paper")
    ]
    assert min(levels) > psnr(CLEAN, NOISY) + 8
    assert len(set(levels)) == 4


def test_best_is_better_than_high_for_pictures():
    best, high = (
        psnr(CLEAN, lull.denoise(NOISY, SIGMA, profile=p, device="cpu")) for p in ("best", "high")
    )
    assert best > high


def test_equal_input_gives_equal_bytes():
    np.testing.assert_array_equal(lull.denoise(NOISY), lull.denoise(NOISY))


@pytest.mark.parametrize("dtype, white", [(np.uint8, 255), (np.uint16, 1023), (np.uint16, 65535)])
def test_sigma_is_in_the_units_of_integers(dtype, white):
    stored = np.rint(np.clip(NOISY, 0, 1) * white).astype(dtype)
    result = lull.denoise(stored, SIGMA * white)
    assert result.dtype == dtype
    assert psnr(CLEAN * white, result, white) > psnr(CLEAN * white, stored, white) + 7.5


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_greatest_64_bit_integers_are_kept_without_a_warning(dtype):
    greatest = np.iinfo(dtype).max
    noisy = np.full((40, 40), greatest, dtype)
    noisy[:, :20] = np.random.default_rng(1).normal(greatest * 0.5, greatest * 0.02, (40, 20))
    clean = lull.denoise(noisy)
    assert (clean[:, 25:] == greatest).all()
    assert clean[:, :12].std() < 0.5 * noisy[:, :12].std()


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint32, np.int64, np.float16, np.float64, ">f4", ">i2"])
def test_other_types_are_kept(dtype):
    dtype = np.dtype(dtype)
    scale = 1000 if dtype.kind in "ui" else 1
    stored = (np.clip(NOISY, 0, 2) * scale).astype(dtype)
    result = lull.denoise(stored, SIGMA * scale)
    assert result.dtype == dtype.newbyteorder("=")
    assert psnr(CLEAN * scale, result, scale) > psnr(CLEAN, NOISY) + 7.5


def test_floats_of_any_range():
    for low, span in [(-1000.0, 4000.0), (0.0, 1e-6), (1e5, 30.0)]:
        stored = low + NOISY.astype(float) * span
        result = lull.denoise(stored, SIGMA * span, preserve_range=True)
        assert psnr(CLEAN, (result - low) / span) > psnr(CLEAN, NOISY) + 7.5


def test_floats_mostly_above_one_keep_their_range():
    result = lull.denoise(NOISY * 4095, SIGMA * 4095)
    assert psnr(CLEAN, result / 4095) > psnr(CLEAN, NOISY) + 7.5


def test_range_is_that_of_all_channels(monkeypatch):
    # A step of 2 samples would find the range of the first channel only.
    monkeypatch.setattr("lull._values._MAX_SAMPLED", NOISY.size)
    scales = 500, 5000
    stored = np.stack([NOISY * scale for scale in scales], axis=-1)
    result = lull.denoise(stored, [SIGMA * scale for scale in scales], channel_axis=-1)
    assert psnr(CLEAN, result[..., 1] / 5000) > psnr(CLEAN, NOISY) + 5


def test_sigma_zero_changes_nothing():
    for array in (NOISY, (NOISY * 255).astype(np.uint8), NOISY.astype(float)):
        np.testing.assert_array_equal(lull.denoise(array, 0), array)


def test_channel_axis_can_be_any_axis():
    clean = np.stack([scene(seed=s) for s in (1, 2, 3)], axis=-1)
    noisy = clean + noise_like(clean, SIGMA)
    last = lull.denoise(noisy, SIGMA, channel_axis=-1)
    first = lull.denoise(np.moveaxis(noisy, -1, 0), SIGMA, channel_axis=0)
    np.testing.assert_array_equal(np.moveaxis(first, 0, -1), last)
    assert psnr(clean, last) > psnr(clean, noisy) + 6


def test_other_channel_counts_are_filtered_separately():
    noisy = np.stack([NOISY, NOISY[::-1], NOISY, CLEAN])
    result = lull.denoise(noisy, [SIGMA, SIGMA, 0, 0], channel_axis=0)
    np.testing.assert_array_equal(result[0], lull.denoise(NOISY, SIGMA))
    np.testing.assert_array_equal(result[1], lull.denoise(NOISY[::-1], SIGMA))
    np.testing.assert_array_equal(result[2:], noisy[2:])


def test_temporal_filtering_improves_clips():
    clean = clip()
    noisy = clean + noise_like(clean, SIGMA)
    over_time = lull.denoise(noisy, SIGMA, time_axis=0)
    alone = np.stack([lull.denoise(frame, SIGMA) for frame in noisy])
    assert psnr(clean, over_time) > psnr(clean, alone) + 1
    np.testing.assert_array_equal(lull.denoise(noisy, SIGMA, time_axis=0, temporal=0), alone)


def test_volumes_use_cubes_by_default():
    clean = volume()
    noisy = clean + noise_like(clean, SIGMA)
    cubes = lull.denoise(noisy, SIGMA)
    slices = lull.denoise(noisy, SIGMA, method="bm3d")
    assert psnr(clean, cubes) > psnr(clean, slices) + 2
    np.testing.assert_array_equal(lull.denoise(noisy, SIGMA, z_axis=0), cubes)
    turned = lull.denoise(np.moveaxis(noisy, 0, 2), SIGMA, z_axis=2)
    np.testing.assert_array_equal(np.moveaxis(turned, 2, 0), cubes)


def test_volumes_of_a_series_are_independent():
    noisy = np.stack([volume(16, s) for s in (1, 2)])
    noisy += noise_like(noisy, SIGMA)
    series = lull.denoise(noisy, SIGMA, time_axis=0, noise="gaussian", preserve_range=True)
    assert series.shape == noisy.shape
    one = lull.denoise(noisy[1], SIGMA, noise="gaussian", preserve_range=True)
    # (The value range is that of the complete series, so some decisions differ.)
    assert psnr(one, series[1]) > 40


def test_views_are_read_without_conversion():
    wide = np.zeros((256, 330), np.float32)
    views = [wide[:128, 3:163], wide[::2, ::2][:, :160], wide[128:0:-1, 170:10:-1], wide.T[:128, :160]]
    for view in views:
        view[...] = NOISY
        np.testing.assert_array_equal(lull.denoise(view, SIGMA), lull.denoise(NOISY, SIGMA))
        np.testing.assert_array_equal(view, NOISY)


def test_read_only_and_unaligned_arrays_are_accepted():
    frozen = NOISY.copy()
    frozen.flags.writeable = False
    expected = lull.denoise(NOISY, SIGMA)
    np.testing.assert_array_equal(lull.denoise(frozen, SIGMA), expected)
    room = np.zeros(NOISY.nbytes + 1, np.uint8)
    odd = room[1:].view(np.float32).reshape(NOISY.shape)
    odd[...] = NOISY
    np.testing.assert_array_equal(lull.denoise(odd, SIGMA), expected)


def test_nothing_is_read_beyond_the_last_row():
    """The array ends before a page that cannot be accessed."""
    page = mmap.PAGESIZE
    height, width = 4 * page // 64, 64
    memory = mmap.mmap(-1, height * width + page)
    guard = ctypes.addressof(ctypes.c_char.from_buffer(memory, height * width))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    assert protect(guard, page, 0) == 0, ctypes.get_errno()
    array = np.frombuffer(memory, np.uint8, height * width).reshape(height, width)
    array[...] = np.random.default_rng(1).integers(0, 255, array.shape)
    expected = lull.denoise(array.copy(), 20)
    np.testing.assert_array_equal(lull.denoise(array, 20), expected)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (7, 7), (8, 8), (300, 1), (2, 3)])
def test_small_pictures_are_accepted(shape):
    noisy = NOISY.flat[: shape[0] * shape[1]].reshape(shape)
    for array in (noisy, (noisy * 255).astype(np.uint8), noisy.astype(float)):
        for sigma in (SIGMA, "auto"):
            assert lull.denoise(array, sigma).shape == shape


@pytest.mark.parametrize("shape", [(0, 8), (8, 0), (0, 0), (0, 16, 16), (4, 0, 16)])
def test_empty_arrays_are_returned(shape):
    empty = np.zeros(shape, np.float32)
    assert lull.denoise(empty, SIGMA, **({"time_axis": 0} if len(shape) == 3 else {})).shape == shape


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_nan_and_infinity_stay(dtype):
    noisy = NOISY.astype(dtype)
    noisy[40:43, 50:52] = np.nan
    noisy[80, 20], noisy[81, 20] = np.inf, -np.inf
    result = lull.denoise(noisy, SIGMA)
    wild = ~np.isfinite(noisy)
    np.testing.assert_array_equal(result[wild], noisy[wild])
    assert np.all(np.isfinite(result[~wild]))
    assert psnr(CLEAN[~wild], result[~wild]) > psnr(CLEAN, NOISY) + 7.5


def test_array_of_nan_is_unchanged():
    assert np.all(np.isnan(lull.denoise(np.full((32, 32), np.nan, np.float32))))


def test_out_receives_the_result():
    expected = lull.denoise(NOISY, SIGMA)
    out = np.empty_like(NOISY)
    assert lull.denoise(NOISY, SIGMA, out=out) is out
    np.testing.assert_array_equal(out, expected)
    strided = np.empty((NOISY.shape[1], NOISY.shape[0]), np.float32).T
    lull.denoise(NOISY, SIGMA, out=strided)
    np.testing.assert_array_equal(strided, expected)


def test_out_with_another_byte_order_or_alignment():
    expected = lull.denoise(NOISY, SIGMA)
    swapped = np.zeros(NOISY.shape, NOISY.dtype.newbyteorder("S"))
    assert lull.denoise(NOISY, SIGMA, out=swapped) is swapped
    np.testing.assert_array_equal(swapped, expected)
    swapped[...] = NOISY
    lull.denoise(swapped, SIGMA, out=swapped)
    np.testing.assert_array_equal(swapped, expected)
    odd = np.zeros(NOISY.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(NOISY.shape)
    lull.denoise(NOISY, SIGMA, out=odd)
    np.testing.assert_array_equal(odd, expected)
    odd.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        lull.denoise(NOISY, SIGMA, out=odd)


def test_masked_arrays_are_rejected():
    with pytest.raises(ValueError, match="mask"):
        lull.denoise(np.ma.masked_greater(NOISY, 0.5), SIGMA)


def test_out_may_be_the_image():
    clean = clip(6)
    for array in (clean + noise_like(clean, SIGMA), np.rint(clean * 200).astype(np.int16)):
        expected = lull.denoise(array, 5, time_axis=0) if array.dtype.kind == "i" else None
        sigma = 5 if array.dtype.kind == "i" else SIGMA
        expected = lull.denoise(array, sigma, time_axis=0)
        assert lull.denoise(array, sigma, time_axis=0, out=array) is array
        np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (dict(sigma=-1), "sigma = -1"),
        (dict(sigma=float("nan")), "sigma"),
        (dict(sigma="strong"), "sigma = 'strong'"),
        (dict(sigma=[1, 2]), "2 sigmas for 1"),
        (dict(sigma=[[1]]), "sigma"),
        (dict(profile="finest"), "profile = 'finest'"),
        (dict(method="wavelet"), "method = 'wavelet'"),
        (dict(method="bm4d"), "volumes"),
        (dict(noise="poisson"), "noise = 'poisson'"),
        (dict(noise="rician"), "rician"),
        (dict(temporal=2), "image is not a clip"),
        (dict(temporal="yes"), "temporal = 'yes'"),
        (dict(channel_axis=2), "channel_axis = 2"),
        (dict(channel_axis=0), "shape"),
        (dict(channel_axis=0.5), "channel_axis = 0.5"),
        (dict(temporal=1.5), "temporal = 1.5"),
        (dict(profile=None), "profile = None"),
        (dict(matcher=1), "matcher = 1"),
        (dict(device=0), "device = 0"),
        (dict(out=NOISY.tolist()), "out of type list"),
        (dict(channel_axis=0, time_axis=0), "one axis"),
        (dict(device="tpu"), "device = 'tpu'"),
        (dict(out=np.zeros((3, 3), np.float32)), "out of shape"),
        (dict(out=np.zeros(NOISY.shape)), "out of type"),
    ],
)
def test_invalid_arguments_are_value_errors(arguments, words):
    with pytest.raises(ValueError) as error:
        lull.denoise(NOISY, **{"sigma": SIGMA, **arguments})
    assert words in str(error.value) and "\n" not in str(error.value)


def test_ambiguous_and_unsupported_arrays_are_rejected():
    with pytest.raises(ValueError, match="channel_axis=-1"):
        lull.denoise(np.zeros((40, 40, 3)))
    for array in (np.zeros(5), np.zeros((40, 40), complex), np.zeros((40, 40), bool), [["a"]]):
        with pytest.raises(ValueError):
            lull.denoise(array)
    with pytest.raises(ValueError, match="temporal = 9"):
        lull.denoise(clip(), SIGMA, time_axis=0, temporal=9)


def test_other_failures_are_lull_errors():
    with pytest.raises(lull.Error, match="no GPU"):
        lull.denoise(NOISY, SIGMA, device="cuda:99")
    assert issubclass(lull.Error, RuntimeError)
    assert lull.Error.__module__ == "lull"


def test_matcher_can_be_chosen():
    window = lull.denoise(NOISY, SIGMA, profile="high")
    cluster = lull.denoise(NOISY, SIGMA, profile="high", matcher="cluster")
    assert not np.array_equal(window, cluster)
    assert psnr(window, cluster) > 35
    paper = lull.denoise(NOISY, SIGMA, profile="high", matcher="cluster", cluster="paper")
    assert not np.array_equal(paper, cluster)
    with pytest.raises(ValueError, match="window or cluster"):
        lull.denoise(NOISY, SIGMA, matcher="tree")
    with pytest.raises(ValueError, match="bm3d and nlm of pictures"):
        lull.nlm(np.stack([NOISY] * 8), SIGMA, z_axis=0, matcher="cluster")


def test_nlm_with_cluster_matcher_averages_groups():
    groups = lull.nlm(NOISY, SIGMA, matcher="cluster")
    assert psnr(CLEAN, groups) > psnr(CLEAN, NOISY) + 4
    assert not np.array_equal(groups, lull.nlm(NOISY, SIGMA))
    assert not np.array_equal(groups, lull.nlm(NOISY, SIGMA, matcher="cluster", cluster="paper"))
    with pytest.raises(ValueError, match="a guide with means over groups"):
        lull.nlm(NOISY, SIGMA, matcher="cluster", guide=CLEAN)


def test_non_local_means_improves():
    result = lull.nlm(NOISY, SIGMA)
    assert psnr(CLEAN, result) > psnr(CLEAN, NOISY) + 5
    assert np.array_equal(result, lull.denoise(NOISY, SIGMA, method="nlm"))
    stack = np.stack([NOISY[:40, :48]] * 5)
    assert not np.array_equal(
        lull.nlm(stack, SIGMA, z_axis=0), lull.nlm(stack, SIGMA, time_axis=0, temporal=0)
    )


@pytest.mark.parametrize("method", ["bm3d", "nlm"])
def test_guide_improves_quality(method):
    noise = 60 / 255
    noisy = CLEAN + noise_like(CLEAN, noise)
    alone = lull.denoise(noisy, noise, method=method)
    guided = lull.denoise(noisy, noise, method=method, guide=CLEAN.astype(noisy.dtype))
    assert psnr(CLEAN, guided) > psnr(CLEAN, alone) + 0.3
    with pytest.raises(ValueError, match="guide of shape"):
        lull.denoise(noisy, noise, guide=CLEAN[1:])
    with pytest.raises(ValueError, match="bm4d"):
        lull.denoise(np.stack([noisy] * 8), noise, z_axis=0, guide=np.stack([noisy] * 8))


def test_backends_agree():
    small = NOISY[:40, :48]
    cpu, reference = (lull.denoise(small, SIGMA, device=d) for d in ("cpu", "reference"))
    assert psnr(reference, cpu) > 50


def test_gpu_result_is_near_the_cpu_result():
    if not lull.devices():
        pytest.skip("no GPU")
    cuda, cpu = (lull.denoise(NOISY, SIGMA, device=d) for d in ("cuda", "cpu"))
    assert abs(psnr(CLEAN, cuda) - psnr(CLEAN, cpu)) < 0.05
