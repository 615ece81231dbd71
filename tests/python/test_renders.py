"""lull.denoise_render: light and its features."""

import lull
import numpy as np
import pytest
from pictures import psnr


def render(height=64, width=80, level=0.3, seed=3):
    """A wall and a striped floor, clean and noisy, and the features from a renderer."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width]
    floor = y >= height // 2
    albedo = np.where((x // 3 + y // 5) % 2 == 0, 0.8, 0.2)[..., None] * [1, 0.9, 0.8]
    light = np.where(floor, 2.0, 0.8) / (1 + 0.02 * (x + abs(y - height // 2)))
    clean = light[..., None] * albedo
    noisy = clean * (1 + level * rng.normal(size=clean.shape))
    normal = np.where(floor[..., None], [0, 1, 0], [0, 0, 1])
    depth = np.where(floor, 5 - 0.05 * (y - height // 2), 5)
    features = {"albedo": albedo, "normal": normal, "depth": depth,
                "variance": (level * clean) ** 2}  # fmt: skip
    return clean, noisy.astype(np.float32), features


CLEAN, NOISY, FEATURES = render()


@pytest.mark.parametrize("method", ["nlm", "bm3d"])
def test_features_improve_quality(method):
    alone = lull.denoise_render(NOISY, variance=FEATURES["variance"], method=method)
    helped = lull.denoise_render(NOISY, method=method, **FEATURES)
    assert helped.shape == NOISY.shape and helped.dtype == NOISY.dtype
    assert psnr(CLEAN, alone) > psnr(CLEAN, NOISY) + 1.5
    assert psnr(CLEAN, helped) > psnr(CLEAN, alone) + 2


def test_variance_from_half_buffers():
    rng = np.random.default_rng(4)
    half_a = CLEAN * (1 + 0.4 * rng.normal(size=CLEAN.shape))
    half_b = CLEAN * (1 + 0.4 * rng.normal(size=CLEAN.shape))
    noisy = (half_a + half_b) / 2
    result = lull.denoise_render(noisy, half_a=half_a, half_b=half_b, albedo=FEATURES["albedo"])
    assert result.dtype == np.float64
    assert psnr(CLEAN, result) > psnr(CLEAN, noisy) + 6


def test_any_light_range_and_nan():
    expected = lull.denoise_render(NOISY, **FEATURES)
    bright = {**FEATURES, "variance": FEATURES["variance"] * 1e8}
    np.testing.assert_allclose(lull.denoise_render(NOISY * 1e4, **bright), expected * 1e4, rtol=1e-3)
    spoilt = NOISY.copy()
    spoilt[10, 10] = [np.nan, np.inf, 7]
    result = lull.denoise_render(spoilt, **FEATURES)
    assert np.isnan(result[10, 10, 0]) and np.isinf(result[10, 10, 1])
    assert np.isfinite(np.delete(result.reshape(-1, 3), 10 * 80 + 10, axis=0)).all()


def test_sequences_and_axes():
    frames = [render(seed=seed) for seed in range(3)]
    noisy = np.stack([one[1] for one in frames])
    features = {name: np.stack([one[2][name] for one in frames]) for name in FEATURES}
    alone = lull.denoise_render(noisy, time_axis=0, temporal=0, **features)
    np.testing.assert_array_equal(alone[1], lull.denoise_render(noisy[1], **frames[1][2]))
    over_time = lull.denoise_render(noisy, time_axis=0, **features)
    assert psnr(CLEAN, over_time[1]) > psnr(CLEAN, alone[1])
    # Channels come first; depth has no channel axis.
    first = {name: np.moveaxis(f, -1, 0) if f.ndim == 3 else f for name, f in FEATURES.items()}
    result = lull.denoise_render(np.moveaxis(NOISY, -1, 0), channel_axis=0, **first)
    np.testing.assert_array_equal(np.moveaxis(result, 0, -1), lull.denoise_render(NOISY, **FEATURES))


def test_single_channel():
    grey = NOISY[..., 0]
    features = {"albedo": FEATURES["albedo"][..., 0], "normal": FEATURES["normal"]}
    result = lull.denoise_render(grey, channel_axis=None, sigma=0.2, **features)
    assert result.shape == grey.shape
    assert psnr(CLEAN[..., 0], result) > psnr(CLEAN[..., 0], grey) + 3
    out = grey.copy()
    assert lull.denoise_render(out, channel_axis=None, sigma=0.2, out=out, **features) is out
    np.testing.assert_array_equal(out, result)


@pytest.mark.parametrize(
    "options, said",
    [
        ({"albedo": CLEAN[:-1]}, "albedo of shape"),
        ({"normal": CLEAN[..., 0]}, "normal of 1 channels"),
        ({"depth": CLEAN}, "depth of 3 channels"),
        ({"sigma": 0}, "sigma = 0"),
        ({"strength": -1}, "strength = -1"),
        ({"method": "bm4d"}, "method = 'bm4d'"),
        ({"temporal": 2}, "temporal = 2"),
        ({"profile": "best"}, "profile = 'best'"),
    ],
)
def test_invalid_arguments_are_value_errors(options, said):
    with pytest.raises(ValueError, match=said):
        lull.denoise_render(NOISY, **options)


def test_byte_arrays_are_rejected():
    with pytest.raises(ValueError, match="a render of uint8"):
        lull.denoise_render(np.zeros((8, 8, 3), np.uint8))
