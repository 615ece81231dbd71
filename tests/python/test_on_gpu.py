"""Arrays in the memory of a GPU, denoised there. (lull.DeviceArray needs no other library.)"""

import lull
import numpy as np
import pytest
from pictures import clip, noise_like, scene

pytestmark = pytest.mark.skipif(not lull.devices(), reason="no GPU")

SIGMA = 20 / 255


def on_gpu(array):
    there = lull.DeviceArray.empty(list(array.shape), array.dtype.str, 0)
    there.set(np.ascontiguousarray(array))
    return there


def to_host(there):
    array = np.empty(there.shape, there.typestr)
    there.get_into(array)
    return array


NOISY = scene() + noise_like(scene(), SIGMA)
COLOURS = np.stack([NOISY, NOISY[::-1], NOISY[:, ::-1]])
CLIP = clip() + noise_like(clip(), SIGMA)


@pytest.mark.parametrize(
    "array, sigma, axes",
    [
        (NOISY, SIGMA, {}),
        (NOISY, "auto", {}),
        ((np.clip(NOISY, 0, 1) * 255).astype(np.uint8), 20, {}),
        (COLOURS, SIGMA, {"channel_axis": 0}),
        (COLOURS, [SIGMA, 0, SIGMA], {"channel_axis": 0}),
        (COLOURS, 0, {"channel_axis": 0}),
        (CLIP, SIGMA, {"time_axis": 0}),
        (CLIP, "auto", {"time_axis": 0}),
        ((np.clip(CLIP, 0, 1) * 255).astype(np.uint8), 20, {"time_axis": 0}),
        (CLIP, SIGMA, {"time_axis": 0, "temporal": 0}),
        (np.where(NOISY > 0.7, np.nan, NOISY), SIGMA, {}),
        (NOISY * 4000, SIGMA * 4000, {}),
        (NOISY.astype(float), SIGMA, {}),
        (CLIP.reshape(1, *CLIP.shape), SIGMA, {"time_axis": 0, "z_axis": 1}),
        (COLOURS.transpose(1, 2, 0).copy(), SIGMA, {"channel_axis": -1}),
    ],
)
def test_results_are_those_of_the_host(array, sigma, axes):
    expected = lull.denoise(array, sigma, device="cuda:0", **axes)
    result = lull.denoise(on_gpu(array), sigma, **axes)
    assert isinstance(result, lull.DeviceArray) and result.shape == array.shape
    np.testing.assert_array_equal(to_host(result), expected)


def test_nothing_goes_through_the_host(monkeypatch):
    there = on_gpu(CLIP)
    monkeypatch.setattr("lull._denoise.to_numpy", None)
    result = lull.denoise(there, SIGMA, time_axis=0)
    np.testing.assert_array_equal(
        to_host(result), [f for f in to_host(lull.denoise(there, SIGMA, time_axis=0))]
    )


def test_out():
    there, out = on_gpu(NOISY), on_gpu(NOISY * 0)
    assert lull.denoise(there, SIGMA, out=out) is out
    np.testing.assert_array_equal(to_host(out), lull.denoise(NOISY, SIGMA, device="cuda:0"))
    host = np.empty_like(NOISY)
    assert lull.denoise(there, SIGMA, out=host) is host
    np.testing.assert_array_equal(host, to_host(out))


def test_dlpack():
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


def test_on_the_cpu_if_asked():
    result = lull.denoise(on_gpu(NOISY), SIGMA, device="cpu")
    np.testing.assert_array_equal(to_host(result), lull.denoise(NOISY, SIGMA, device="cpu"))


def test_frames_of_a_session():
    with lull.Session(CLIP.shape[1:], CLIP.dtype, SIGMA, device="cuda") as session:
        results = [r for frame in CLIP for r in session.push(on_gpu(frame))]
        results += session.drain()
    expected = lull.denoise(CLIP, SIGMA, time_axis=0, device="cuda")
    np.testing.assert_array_equal(np.stack([to_host(r) for r in results]), expected)


@pytest.mark.parametrize("copy", [False, True])
def test_frames_of_a_session_stay_there(monkeypatch, copy):
    expected = lull.denoise(CLIP, SIGMA, time_axis=0, device="cuda")
    frames = [on_gpu(frame) for frame in CLIP]
    if copy:  # DeviceArray cannot be copied there
        torch = pytest.importorskip("torch")
        if not torch.cuda.is_available():
            pytest.skip("no GPU that PyTorch finds")
        frames = [torch.from_numpy(frame).cuda() for frame in CLIP]
    monkeypatch.setattr("lull._session.to_numpy", None)
    with lull.Session(CLIP.shape[1:], CLIP.dtype, SIGMA, device="cuda") as session:
        results = []
        for frame in frames:
            results += session.push(frame, copy=copy)
            if copy:
                frame.zero_()
        results += session.drain()
    assert all(type(result) is type(frames[0]) for result in results)
    there = [r.cpu().numpy() if copy else to_host(r) for r in results]
    np.testing.assert_array_equal(np.stack(there), expected)
