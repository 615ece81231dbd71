"""The path of complete arrays in GPU memory, with a simulated GPU."""

import lull
import numpy as np
import pretended_gpu
import pytest
from gpu_cases import CASES, CLIP, COLOURS, NAMES, NOISY, SCAN, SIGMA, scaled, stays
from pretended_gpu import OnDevice


@pytest.fixture(autouse=True)
def gpu(monkeypatch):
    pretended_gpu.pretend(monkeypatch)


@pytest.mark.parametrize("array, sigma, options", [case[1:] for case in CASES], ids=NAMES)
def test_results_equal_those_of_the_host(monkeypatch, array, sigma, options):
    expected = lull.denoise(array, sigma, device="cpu", **options)
    stays(monkeypatch)
    result = lull.denoise(OnDevice(array), sigma, **options)
    assert isinstance(result, OnDevice) and result.dtype == array.dtype
    np.testing.assert_array_equal(result.there, expected)
    assert pretended_gpu.Session.opened.count(True) * 2 == len(pretended_gpu.Session.opened)


@pytest.mark.parametrize("method", ["bm3d", "nlm"])
@pytest.mark.parametrize("dtype", [np.float32, float, np.uint16])
def test_guide_on_device_or_host(monkeypatch, method, dtype):
    array, guide = (
        a.astype(dtype) if dtype != np.uint16 else scaled(a, 4000, dtype)
        for a in (NOISY, NOISY[::-1])
    )
    sigma = SIGMA * 4000 if dtype == np.uint16 else SIGMA
    expected = lull.denoise(array, sigma, guide=guide, method=method, device="cpu")
    # A guide in host memory moves the image to the host.
    result = lull.denoise(OnDevice(array), sigma, guide=guide, method=method)
    np.testing.assert_array_equal(result, expected)
    with pytest.raises(ValueError, match="guide of shape"):
        lull.denoise(OnDevice(array), sigma, guide=OnDevice(guide[1:]), method=method)
    stays(monkeypatch)
    result = lull.denoise(OnDevice(array), sigma, guide=OnDevice(guide), method=method)
    np.testing.assert_array_equal(result.there, expected)


def test_out_on_device_or_host(monkeypatch):
    expected = lull.denoise(NOISY, SIGMA, device="cpu")
    host = np.zeros_like(NOISY)
    assert lull.denoise(OnDevice(NOISY), SIGMA, out=host) is host
    np.testing.assert_array_equal(host, expected)
    stays(monkeypatch)
    out = OnDevice(np.zeros((2, *NOISY.shape), NOISY.dtype)[1, :, ::-1])
    assert lull.denoise(OnDevice(NOISY), SIGMA, out=out) is out
    np.testing.assert_array_equal(out.there, expected)
    with pytest.raises(ValueError, match="out of type"):
        lull.denoise(OnDevice(NOISY), SIGMA, out=OnDevice(NOISY.astype(float)))


def test_out_may_overlap_the_image(monkeypatch):
    stays(monkeypatch)
    for array in (CLIP, CLIP.astype(np.float64)):
        expected = lull.denoise(OnDevice(array), SIGMA, time_axis=0)
        for view in (np.s_[:], np.s_[::-1], np.s_[:, 1:]):
            there = OnDevice(array.copy())
            shifted = OnDevice(there.there[view])
            if shifted.shape != there.shape:
                there = OnDevice(there.there[:, :-1])
                expected = lull.denoise(OnDevice(array[:, :-1]), SIGMA, time_axis=0)
            assert lull.denoise(there, SIGMA, time_axis=0, out=shifted) is shifted
            np.testing.assert_array_equal(shifted.there, expected.there)


def test_unsupported_byte_orders_and_alignments_use_the_host():
    swapped = NOISY.astype(">f4")
    odd = np.zeros(NOISY.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(NOISY.shape)
    odd[...] = NOISY
    for array in (swapped, odd):
        result = lull.denoise(OnDevice(array), SIGMA)
        np.testing.assert_array_equal(result, lull.denoise(NOISY, SIGMA, device="cpu"))
    with pytest.raises(ValueError, match="samples of type bool"):
        lull.denoise(OnDevice(NOISY > 0), SIGMA)


def test_functions_of_the_authors_equal_the_host(monkeypatch):
    colours = COLOURS.transpose(1, 2, 0)
    expected = [
        lull.bm3d(NOISY, SIGMA, device="cpu"),
        lull.bm3d(colours, SIGMA, "lc", device="cpu"),
        lull.bm3d_rgb(colours, SIGMA, "lc", device="cpu"),
        lull.bm4d(SCAN * 900.0, SIGMA * 900, "lc", device="cpu"),
    ]
    integers = lull.bm3d(OnDevice(scaled(NOISY, 255, np.uint8)), 20, "lc")  # no float library
    assert isinstance(integers, np.ndarray)
    stays(monkeypatch)
    results = [
        lull.bm3d(OnDevice(NOISY), SIGMA),
        lull.bm3d(OnDevice(colours), SIGMA, "lc"),
        lull.bm3d_rgb(OnDevice(colours), SIGMA, "lc"),
        lull.bm4d(OnDevice(SCAN * 900.0), SIGMA * 900, "lc"),
    ]
    for result, one in zip(results, expected):
        np.testing.assert_array_equal(result.there, one)


def test_value_range_of_large_arrays_is_sampled(monkeypatch):
    monkeypatch.setattr("lull._values._MAX_SAMPLED", 1000)
    for array in (CLIP * 500, CLIP[:, ::2, ::-1] * 500, CLIP.transpose(2, 0, 1) * 500):
        expected = lull.denoise(array, SIGMA * 500, time_axis=0, temporal=0, device="cpu")
        result = lull.denoise(OnDevice(array), SIGMA * 500, time_axis=0, temporal=0)
        np.testing.assert_array_equal(result.there, expected)
