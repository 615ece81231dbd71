"""Types of arrays: the result has the type of the input."""

import lull
import numpy as np
import pytest
from pictures import noise_like, scene
from lull import _arrays

SIGMA = 0.08
NOISY = scene(64, 80) + noise_like(scene(64, 80), SIGMA)
EXPECTED = lull.denoise(NOISY, SIGMA)


class Exported:
    """An array of a library that supports only DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __array_namespace__(self):
        return Namespace


class Namespace:
    @staticmethod
    def from_dlpack(array):
        return Exported(np.from_dlpack(array))


def test_lists_become_arrays():
    result = lull.denoise(NOISY.tolist(), SIGMA)
    assert isinstance(result, np.ndarray) and result.dtype == float
    np.testing.assert_allclose(result, EXPECTED, atol=1e-5)


def test_dlpack_arrays_return_the_same_type():
    result = lull.denoise(Exported(NOISY), SIGMA)
    assert isinstance(result, Exported)
    np.testing.assert_array_equal(result.array, EXPECTED)


class Wrapped:
    """An array of a library that numpy knows how to read."""

    def __init__(self, array, is_copied):
        self.array, self.is_copied, self.shape = array, is_copied, array.shape

    def __array__(self, dtype=None, copy=None):
        return self.array.copy() if self.is_copied else self.array


def test_out_whose_memory_cannot_be_written_is_rejected():
    out = Wrapped(np.zeros_like(NOISY), False)
    assert lull.denoise(NOISY, SIGMA, out=out) is out
    np.testing.assert_array_equal(out.array, EXPECTED)
    with pytest.raises(ValueError, match="out of type Wrapped"):  # as a dataset of h5py
        lull.denoise(NOISY, SIGMA, out=Wrapped(np.zeros_like(NOISY), True))


def test_numba_arrays_are_copied():
    class OnDevice:
        shape = NOISY.shape
        __cuda_array_interface__ = {  # another byte order, converted on the host
            "shape": NOISY.shape,
            "typestr": ">f8",
            "data": (0, True),
            "version": 3,
        }

        def copy_to_host(self):
            return NOISY

    np.testing.assert_array_equal(lull.denoise(OnDevice(), SIGMA), EXPECTED)


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    noisy = torch.from_numpy(NOISY)
    result = lull.denoise(noisy, SIGMA)
    assert isinstance(result, torch.Tensor) and result.dtype == noisy.dtype
    np.testing.assert_array_equal(result.numpy(), EXPECTED)
    with lull.Session(noisy.shape, np.float32, SIGMA, temporal=0) as session:
        assert all(isinstance(r, torch.Tensor) for r in [*session.push(noisy), *session.drain()])
    half = lull.denoise(noisy.to(torch.bfloat16), SIGMA)
    assert half.dtype == torch.bfloat16
    half_out = torch.zeros_like(half)
    lull.denoise(noisy.to(torch.bfloat16), SIGMA, out=half_out)
    assert torch.equal(half_out, half)
    out = torch.empty_like(noisy)
    assert lull.denoise(noisy, SIGMA, out=out) is out
    np.testing.assert_array_equal(out.numpy(), EXPECTED)
    if torch.cuda.is_available() and lull.devices():
        on_gpu = lull.denoise(noisy.cuda(), SIGMA)
        assert on_gpu.is_cuda
        np.testing.assert_array_equal(
            on_gpu.cpu().numpy(), lull.denoise(NOISY, SIGMA, device="cuda")
        )


def test_jax_arrays():
    jax = pytest.importorskip("jax")
    result = lull.denoise(jax.numpy.asarray(NOISY), SIGMA)
    assert isinstance(result, jax.Array)
    if result.devices().pop().platform == "cpu":
        expected = EXPECTED
    else:
        expected = lull.denoise(NOISY, SIGMA, device="cuda")
    np.testing.assert_array_equal(np.asarray(result), expected)


def test_cupy_arrays():
    cupy = pytest.importorskip("cupy")
    result = lull.denoise(cupy.asarray(NOISY), SIGMA)
    assert isinstance(result, cupy.ndarray)
    np.testing.assert_array_equal(result.get(), lull.denoise(NOISY, SIGMA, device="cuda"))


def test_device_of_arrays():
    assert _arrays.device_of(NOISY) is None
