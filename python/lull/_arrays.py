"""Conversion of arrays to numpy and back, without a copy if both are in host memory."""

from __future__ import annotations

import sys
from typing import Any, Callable

import numpy as np

from . import _core

Convert = Callable[[np.ndarray], Any]


def library_of(array: Any) -> str:
    """Returns the name of the package that defines the array's type."""
    return type(array).__module__.partition(".")[0]


def _torch(array: Any) -> tuple[np.ndarray, Convert]:
    torch = sys.modules["torch"]
    host = array.detach().cpu()
    # numpy does not support bfloat16.
    host = host.float() if host.dtype == torch.bfloat16 else host
    return host.resolve_conj().numpy(), lambda result: torch.from_numpy(result).to(
        device=array.device, dtype=array.dtype
    )


def _cupy(array: Any) -> tuple[np.ndarray, Convert]:
    cupy = sys.modules["cupy"]

    def back(result: np.ndarray) -> Any:
        with array.device:
            return cupy.asarray(result)

    return array.get(), back


def _jax(array: Any) -> tuple[np.ndarray, Convert]:
    jax = sys.modules["jax"]
    return np.asarray(array), lambda result: jax.device_put(result, array.sharding)


def _generic(array: Any) -> tuple[np.ndarray, Convert]:
    """Converts arrays that support DLPack, or the interface of numba's device arrays."""
    if isinstance(array, _core.DeviceArray):
        host = np.empty(array.shape, array.typestr)
        array.get_into(host)

        def to_device(result: np.ndarray) -> Any:
            on_device = _core.DeviceArray.empty(list(result.shape), result.dtype.str, array.device)
            on_device.set(np.ascontiguousarray(result))
            return on_device

        return host, to_device
    if not hasattr(array, "__array__") and hasattr(array, "copy_to_host"):
        return array.copy_to_host(), lambda result: result
    if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__"):
        return np.asarray(array), lambda result: result
    namespace = getattr(array, "__array_namespace__", None)

    def back(result: np.ndarray) -> Any:
        return namespace().from_dlpack(result) if namespace else result

    return np.from_dlpack(array), back


def to_numpy(array: Any) -> tuple[np.ndarray, Convert]:
    """Returns the array as a numpy array, and a function that converts results back."""
    if isinstance(array, np.ma.MaskedArray):
        raise ValueError(
            "a masked array (its mask would be lost); give its data with NaN for masked values"
        )
    convert = {"torch": _torch, "cupy": _cupy, "jax": _jax, "jaxlib": _jax}.get(
        library_of(array), _generic
    )
    host, back = convert(array)
    if host.dtype.kind not in "uif":
        raise ValueError(
            f"samples of type {host.dtype} (must be integers or floats); convert them first"
        )
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    return (host if host.flags.aligned else host.copy()), back


def device_of(array: Any) -> str | None:
    """Returns "cuda:N" for an array in GPU memory, None for other arrays."""
    library = library_of(array)
    if library == "torch" and array.device.type == "cuda":
        return f"cuda:{array.device.index or 0}"
    if library == "cupy":
        return f"cuda:{array.device.id}"
    if library in ("jax", "jaxlib"):
        devices = list(array.devices())
        if len(devices) == 1 and devices[0].platform == "gpu":
            return f"cuda:{devices[0].local_hardware_id}"
        return None  # on the host, or distributed over several GPUs
    if isinstance(array, _core.DeviceArray):
        return f"cuda:{array.device}"
    if library not in ("torch", "cupy") and hasattr(array, "__cuda_array_interface__"):
        return "cuda:0"  # the interface does not specify the device
    return None


def host_view(out: Any) -> tuple[np.ndarray | None, bool]:
    """Returns the samples of `out` as a numpy array, and whether writing to it changes `out`.

    The array is None if `out` is on a GPU. The array is a copy if filters cannot use the samples in
    their memory layout (another byte order, not aligned, bfloat16), or if the samples are in
    another memory. In this case, :func:`put` writes the result.
    """
    if device_of(out) is not None:
        return None, False
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ValueError("out is read-only; give an array that can be written")
    view, _ = to_numpy(out)
    if not view.flags.writeable:
        raise ValueError("out is read-only; give an array that can be written")
    if isinstance(out, np.ndarray):
        return view, out.dtype.isnative and out.flags.aligned
    # Objects such as datasets in files return a new copy of their samples each time.
    shared = view.size == 0 or np.may_share_memory(view, to_numpy(out)[0])
    if not shared and library_of(out) != "torch":
        raise ValueError(
            f"out of type {type(out).__name__} (its memory cannot be written directly); give an "
            "array, and copy it"
        )
    return view, shared


def put(out: Any, result: np.ndarray) -> None:
    """Copies a result into an array that cannot be written directly, for example on a GPU."""
    if isinstance(out, np.ndarray):
        out[...] = result
    elif library_of(out) == "torch":
        out.copy_(sys.modules["torch"].from_numpy(result))
    elif library_of(out) in ("cupy", "lull") and hasattr(out, "set"):
        out.set(np.ascontiguousarray(result))
    else:
        raise ValueError(f"out of type {type(out).__name__} cannot be written; leave it out")


def put_on_device(out: Any, result: Any) -> Any:
    """Copies a result on a GPU into `out` and returns `out`."""
    if library_of(out) == library_of(result) == "torch":
        out.copy_(result)
    elif library_of(out) == library_of(result) == "cupy":
        out[...] = result
    elif device_of(out) is None:
        view, in_place = host_view(out)
        if in_place and view is not None:
            view[...] = to_numpy(result)[0]
        else:
            put(out, to_numpy(result)[0])
    else:
        put(out, to_numpy(result)[0])
    return out
