"""Arrays that are denoised in GPU memory. (lull.DeviceArray needs no other library.)"""

import os

import lull
import numpy as np
import pytest
from gpu_cases import CASES, CLIP, COLOURS, NAMES, NOISY, SCAN, SIGMA, scaled, stays

# ./run test sets LULL_SKIPS_GPU=0 on a machine with a GPU, on which the tests must not be skipped.
pytestmark = pytest.mark.skipif(
    not lull.devices() and os.environ.get("LULL_SKIPS_GPU") != "0", reason="no GPU"
)


def on_gpu(array):
    there = lull.DeviceArray.empty(list(array.shape), array.dtype.str, 0)
    there.set(np.ascontiguousarray(array))
    return there


def to_host(there):
    array = np.empty(there.shape, there.typestr)
    there.get_into(array)
    return array


class View:
    """A view like numpy's with its memory on the GPU; it cannot be copied to the host."""

    def __init__(self, view):
        owner = view if view.base is None else view.base
        assert owner.flags.c_contiguous
        self.owner = on_gpu(owner)
        offset = view.ctypes.data - owner.ctypes.data
        address = self.owner.__cuda_array_interface__["data"][0] + offset
        self.shape, self.dtype = view.shape, view.dtype
        self.__cuda_array_interface__ = {
            "shape": view.shape,
            "typestr": view.dtype.str,
            "strides": view.strides,
            "data": (address, False),
            "version": 3,
        }


@pytest.mark.parametrize("array, sigma, options", [case[1:] for case in CASES], ids=NAMES)
def test_results_equal_those_of_the_host(monkeypatch, array, sigma, options):
    expected = lull.denoise(array, sigma, device="cuda:0", **options)
    stays(monkeypatch)
    result = lull.denoise(View(array), sigma, **options)
    assert isinstance(result, lull.DeviceArray) and result.shape == array.shape
    assert result.typestr == array.dtype.str
    np.testing.assert_array_equal(to_host(result), expected)


@pytest.mark.parametrize("method", ["bm3d", "nlm"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint16])
def test_guide_on_gpu(monkeypatch, method, dtype):
    if dtype == np.uint16:
        array, guide, sigma = scaled(NOISY, 4000, dtype), scaled(NOISY[::-1], 4000, dtype), 300
    else:
        array, guide, sigma = NOISY.astype(dtype), NOISY[::-1].astype(dtype), SIGMA
    expected = lull.denoise(array, sigma, guide=guide, method=method, device="cuda:0")
    stays(monkeypatch)
    result = lull.denoise(on_gpu(array), sigma, guide=on_gpu(guide), method=method)
    np.testing.assert_array_equal(to_host(result), expected)


def test_functions_of_the_authors_equal_the_host(monkeypatch):
    colours = COLOURS.transpose(1, 2, 0)
    expected = [
        lull.bm3d(NOISY, SIGMA, device="cuda:0"),
        lull.bm3d(colours, SIGMA, device="cuda:0"),
        lull.bm3d_rgb(colours, SIGMA, device="cuda:0"),
        lull.bm4d(SCAN * 900.0, SIGMA * 900, device="cuda:0"),
    ]
    stays(monkeypatch)
    results = [
        lull.bm3d(on_gpu(NOISY), SIGMA),
        lull.bm3d(View(colours), SIGMA),
        lull.bm3d_rgb(View(colours), SIGMA),
        lull.bm4d(on_gpu(SCAN * 900.0), SIGMA * 900),
    ]
    for result, one in zip(results, expected):
        np.testing.assert_array_equal(to_host(result), one)


def test_out_on_gpu_or_host(monkeypatch):
    expected = lull.denoise(NOISY, SIGMA, device="cuda:0")
    there, out = on_gpu(NOISY), on_gpu(NOISY * 0)
    host = np.empty_like(NOISY)
    assert lull.denoise(there, SIGMA, out=host) is host
    np.testing.assert_array_equal(host, expected)
    stays(monkeypatch)
    assert lull.denoise(there, SIGMA, out=out) is out
    np.testing.assert_array_equal(to_host(out), expected)
    np.testing.assert_array_equal(to_host(there), NOISY)
    assert lull.denoise(there, SIGMA, out=there) is there
    np.testing.assert_array_equal(to_host(there), expected)


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float64", "uint8", "int16"])
def test_tensors_stay_on_the_gpu(monkeypatch, name):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU that PyTorch finds")
    factor = 1 if "float" in name else 200
    tensor = torch.from_numpy(SCAN * factor).to(getattr(torch, name))
    options = {"noise": "gaussian", "z_axis": 0}
    expected = lull.denoise(tensor, SIGMA * factor, device="cuda:0", **options)
    stays(monkeypatch)
    there = tensor.cuda().permute(1, 2, 0)
    result = lull.denoise(there, SIGMA * factor, **{**options, "z_axis": -1})
    assert result.dtype == tensor.dtype and result.device == there.device
    assert torch.equal(result.cpu().permute(2, 0, 1), expected)
    out = torch.zeros_like(there)
    assert lull.denoise(there, SIGMA * factor, out=out, **{**options, "z_axis": -1}) is out
    assert torch.equal(out, result)
    with lull.Session(SCAN.shape[1:], "float32", SIGMA, method="bm4d", device="cuda") as session:
        slices = torch.from_numpy(SCAN).cuda()
        results = []
        for one in slices:
            results += session.push(one)
            one.zero_()
        results += session.drain()
    monkeypatch.undo()
    with lull.Session(SCAN.shape[1:], "float32", SIGMA, method="bm4d", device="cuda") as session:
        expected = np.stack(list(session.denoise(SCAN)))
    np.testing.assert_array_equal(torch.stack(results).cpu().numpy(), expected)


def test_dlpack_arrays():
    there = on_gpu(NOISY)
    assert there.__dlpack_device__() == (2, there.device)
    assert "dltensor" in repr(there.__dlpack__(stream=None))
    assert "dltensor_versioned" in repr(there.__dlpack__(max_version=(1, 0)))
    with pytest.raises(BufferError):
        there.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        lull.DeviceArray.empty([2, 2], ">f4", 0).__dlpack__()


def test_dlpack_shares_the_memory():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU that PyTorch finds")
    there = on_gpu(NOISY)
    tensor = torch.from_dlpack(there)
    assert tensor.data_ptr() == there.__cuda_array_interface__["data"][0]
    del there  # the tensor keeps it
    np.testing.assert_array_equal(tensor.cpu().numpy(), NOISY)


def test_jax_stays_on_the_gpu(monkeypatch):
    jax = pytest.importorskip("jax")
    try:
        device = jax.devices("cuda")[0]
    except RuntimeError:
        pytest.skip("no GPU that JAX finds")
    there = jax.device_put(CLIP, device)
    monkeypatch.setattr("lull._denoise.to_numpy", None)
    result = lull.denoise(there, SIGMA, time_axis=0)
    monkeypatch.undo()
    assert isinstance(result, jax.Array) and result.devices() == {device}
    assert result.dtype == there.dtype
    np.testing.assert_array_equal(
        np.asarray(result), lull.denoise(CLIP, SIGMA, time_axis=0, device="cuda:0")
    )


def test_cpu_can_be_requested():
    result = lull.denoise(on_gpu(NOISY), SIGMA, device="cpu")
    np.testing.assert_array_equal(to_host(result), lull.denoise(NOISY, SIGMA, device="cpu"))


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float16, np.float32, np.float64])
@pytest.mark.parametrize("method", ["bm3d", "bm4d", "nlm"])
def test_session_frames_stay_on_the_gpu(monkeypatch, method, dtype, copy):
    whole = np.dtype(dtype).kind == "u"
    frames = scaled(CLIP, np.iinfo(dtype).max, dtype) if whole else CLIP.astype(dtype)
    sigma = SIGMA * (np.iinfo(dtype).max if whole else 1)
    options = {"method": method, "device": "cuda"}
    with lull.Session(frames.shape[1:], dtype, sigma, **options) as session:
        expected = np.stack(list(session.denoise(frames)))
    there = [on_gpu(frame) for frame in frames]
    stays(monkeypatch)
    with lull.Session(frames.shape[1:], dtype, sigma, **options) as session:
        for _ in range(2):
            results = []
            for frame, known in zip(there, frames):
                results += session.push(frame, copy=copy)
                if copy:
                    frame.set(np.zeros_like(known))
            results += session.drain()
            assert all(isinstance(result, lull.DeviceArray) for result in results)
            np.testing.assert_array_equal(np.stack([to_host(r) for r in results]), expected)
            for frame, known in zip(there, frames):
                frame.set(known)
