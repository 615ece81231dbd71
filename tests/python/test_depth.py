"""lull.denoise_depth: maps with holes, in any unit."""

import lull
import numpy as np
import pytest


def depth_map(height=72, width=96):
    """A slope with a box in front of it, in metres."""
    y, x = np.mgrid[:height, :width]
    slope = 3 + 0.02 * x + 0.01 * y
    return np.where((abs(x - 50) < 20) & (abs(y - 36) < 18), 1.5, slope)


CLEAN = depth_map()
HOLES = np.random.default_rng(1).random(CLEAN.shape) < 0.05
NOISE = np.random.default_rng(2).normal(size=CLEAN.shape)


def rmse(result, clean=CLEAN):
    return np.sqrt(np.mean((np.asarray(result, float) - clean)[~HOLES] ** 2))


@pytest.mark.parametrize("sigma", [0.1, "auto"])
@pytest.mark.parametrize("method", ["bm3d", "nlm"])
def test_holes_stay_and_do_not_affect_others(method, sigma):
    noisy = np.where(HOLES, np.nan, CLEAN + 0.1 * NOISE).astype(np.float32)
    result = lull.denoise_depth(noisy, sigma, method=method)
    np.testing.assert_array_equal(np.isnan(result), HOLES)
    assert rmse(result) < 0.04
    marked = np.where(HOLES, np.float32(-9999.9), noisy)
    np.testing.assert_array_equal(
        lull.denoise_depth(marked, sigma, method=method, invalid=-9999.9)[~HOLES], result[~HOLES])


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
def test_integer_millimetres(dtype):
    stored = np.where(HOLES, 0, np.rint(1000 * (CLEAN + 0.1 * NOISE))).astype(dtype)
    result = lull.denoise_depth(stored, 100, invalid=0)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result == 0, HOLES)
    assert rmse(result / 1000) < 0.04


def test_noise_growing_with_the_square():
    noisy = CLEAN + 0.02 * CLEAN**2 * NOISE
    squared = lull.denoise_depth(noisy, 0.02, model="depth2", reference=1)
    assert squared.dtype == np.float64
    assert rmse(squared) < 0.8 * rmse(lull.denoise_depth(noisy, "auto"))


def test_sequences_improve_over_time():
    maps = np.stack([CLEAN + 0.1 * np.random.default_rng(k).normal(size=CLEAN.shape)
                     for k in range(3)]).astype(np.float32)
    alone = lull.denoise_depth(maps, 0.1, time_axis=0, profile="balanced")
    over_time = lull.denoise_depth(maps, 0.1, time_axis=0, profile="balanced", temporal=1)
    assert over_time.shape == maps.shape
    assert rmse(over_time[1]) < rmse(alone[1])


@pytest.mark.parametrize(
    "options, said",
    [
        ({"sigma": -1}, "sigma = -1"),
        ({"sigma": "some"}, "sigma = 'some'"),
        ({"model": "cubic"}, "model = 'cubic'"),
        ({"reference": 2}, "reference = 2"),
        ({"method": "bm4d"}, "method = 'bm4d'"),
        ({"temporal": 1}, "temporal = 1"),
        ({"time_axis": 2}, "time_axis = 2"),
    ],
)
def test_invalid_options_are_value_errors(options, said):
    with pytest.raises(ValueError, match=said):
        lull.denoise_depth(CLEAN, **options)


def test_unsuitable_maps_are_rejected():
    with pytest.raises(ValueError, match="only holes"):
        lull.denoise_depth(np.full((16, 16), np.nan), 1)
    with pytest.raises(ValueError, match="integers must be from 0 to 65535"):
        lull.denoise_depth(np.full((16, 16), -1), 1)
    with pytest.raises(ValueError, match="invalid = 0.5"):
        lull.denoise_depth(np.ones((16, 16), np.uint8), 1, invalid=0.5)
