"""Kinds of arrays: to numpy's and back, without a copy where both are in the host's memory."""

from __future__ import annotations

import sys
from typing import Any, Callable

import numpy as np

from . import _core

Back = Callable[[np.ndarray], Any]


def library_of(array: Any) -> str:
    """The name of the package that an array's type is from."""
    return type(array).__module__.partition(".")[0]


def _torch(array: Any) -> tuple[np.ndarray, Back]:
    torch = sys.modules["torch"]
    host = array.detach().cpu()
    # numpy has no bfloat16.
    host = host.float() if host.dtype == torch.bfloat16 else host
    return host.resolve_conj().numpy(), lambda result: torch.from_numpy(result).to(
        device=array.device, dtype=array.dtype
    )


def _cupy(array: Any) -> tuple[np.ndarray, Back]:
    cupy = sys.modules["cupy"]

    def back(result: np.ndarray) -> Any:
        with array.device:
            return cupy.asarray(result)

    return array.get(), back


def _jax(array: Any) -> tuple[np.ndarray, Back]:
    jax = sys.modules["jax"]
    return np.asarray(array), lambda result: jax.device_put(result, array.sharding)


def _others(array: Any) -> tuple[np.ndarray, Back]:
    """Whatever speaks DLPack, or the interface of numba's device arrays."""
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


def to_numpy(array: Any) -> tuple[np.ndarray, Back]:
    """The array as numpy's, and what makes results of the kind that it was."""
    if isinstance(array, np.ma.MaskedArray):
        raise ValueError(
            "a masked array (its mask would be lost); give its data, NaN where nothing was measured"
        )
    convert = {"torch": _torch, "cupy": _cupy, "jax": _jax, "jaxlib": _jax}.get(
        library_of(array), _others
    )
    host, back = convert(array)
    if host.dtype.kind not in "uif":
        raise ValueError(
            f"samples of type {host.dtype} (they must be integers or floats); convert them first"
        )
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    return (host if host.flags.aligned else host.copy()), back


def device_of(array: Any) -> str | None:
    """"cuda:N" of an array in the memory of a GPU."""
    library = library_of(array)
    if library == "torch" and array.device.type == "cuda":
        return f"cuda:{array.device.index or 0}"
    if library == "cupy":
        return f"cuda:{array.device.id}"
    if library in ("jax", "jaxlib"):
        devices = list(array.devices())
        if len(devices) == 1 and devices[0].platform == "gpu":
            return f"cuda:{devices[0].local_hardware_id}"
        return None  # on the host, or spread over several GPUs
    if isinstance(array, _core.DeviceArray):
        return f"cuda:{array.device}"
    if library not in ("torch", "cupy") and hasattr(array, "__cuda_array_interface__"):
        return "cuda:0"  # the interface does not say which
    return None


def host_view(out: Any) -> tuple[np.ndarray | None, bool]:
    """The samples of `out`, and whether they are those to be written.

    None where they are on a GPU; a copy of samples that filters do not take where they lie (of
    another byte order, not aligned, bfloat16), for which there is :func:`put`.
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
    return view, library_of(out) != "torch" or out.dtype != sys.modules["torch"].bfloat16


def put(out: Any, result: np.ndarray) -> None:
    """Copies a result into an array that cannot be written as it lies, as on a GPU."""
    if isinstance(out, np.ndarray):
        out[...] = result
    elif library_of(out) == "torch":
        out.copy_(sys.modules["torch"].from_numpy(result))
    elif library_of(out) in ("cupy", "lull") and hasattr(out, "set"):
        out.set(np.ascontiguousarray(result))
    else:
        raise ValueError(f"out of type {type(out).__name__} cannot be written; leave it out")


def put_on_device(out: Any, result: Any) -> Any:
    """Copies a result on a GPU into another array, and gives that."""
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
