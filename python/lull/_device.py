"""Arrays in the memory of a GPU, denoised there: nothing of them goes through the host's."""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass, replace
from typing import Any, Sequence

import numpy as np

from . import _core
from ._arrays import library_of, to_numpy
from ._axes import Axes
from ._noise import Group, layout_of
from ._values import Values, values_of

_LOOKED_AT = 1 << 20


class DeviceView:
    """A (time, z, channel, y, x) view of an array on a GPU, by `__cuda_array_interface__`."""

    def __init__(self, array: Any, axes: Axes) -> None:
        interface = array.__cuda_array_interface__
        self.array = array  # keeps the memory
        self.dtype = np.dtype(interface["typestr"])
        shape = tuple(interface["shape"])
        strides = interface.get("strides")
        if strides is None:
            strides = [self.dtype.itemsize * int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
        named = (axes.time, axes.z, axes.channel)
        rest = [axis for axis in range(axes.ndim) if axis not in named]
        self.shape = tuple(1 if a is None else shape[a] for a in named) + tuple(
            shape[a] for a in rest
        )
        self.strides = tuple(0 if a is None else strides[a] for a in named) + tuple(
            strides[a] for a in rest
        )
        self.address = interface["data"][0]

    @property
    def has_rows(self) -> bool:
        """Whether samples of a row follow each other, and rows in the order of their addresses."""
        row = self.shape[4] * self.dtype.itemsize
        return (self.strides[4] == self.dtype.itemsize or self.shape[4] == 1) and (
            self.shape[3] == 1 or self.strides[3] >= row
        )

    def plane(self, t: int, z: int, channel: int) -> tuple[int, int]:
        offset = sum(i * s for i, s in zip((t, z, channel), self.strides))
        row = self.shape[4] * self.dtype.itemsize
        return self.address + offset, row if self.shape[3] == 1 else self.strides[3]


class HostView:
    """The same for whoever looks at a few planes on the host: for the noise."""

    def __init__(self, view: DeviceView, device: int) -> None:
        self._view, self._device, self.shape = view, device, view.shape

    def __getitem__(self, place: tuple[int, int, int]) -> np.ndarray:
        return to_host(self._view, self._device, place)


def to_host(view: DeviceView, device: int, place: tuple[int, int, int]) -> np.ndarray:
    address, row = view.plane(*place)
    height, width = view.shape[3:]
    rows = np.empty((height, row // view.dtype.itemsize), view.dtype)
    # The last row ends with its samples: what would follow may be nobody's.
    size = (height - 1) * row + width * view.dtype.itemsize
    flat = rows.reshape(-1).view(np.uint8)
    _core.copy_from_device(flat[:size], address, device)
    return rows[:, :width]


def synchronize(array: Any) -> None:
    """Waits until an array is written by whatever its library has queued."""
    if library_of(array) == "torch":
        torch = sys.modules["torch"]
        torch.cuda.current_stream(array.device).synchronize()
    elif library_of(array) == "cupy":
        with array.device:
            sys.modules["cupy"].cuda.get_current_stream().synchronize()
    elif library_of(array) in ("jax", "jaxlib"):
        array.block_until_ready()
    else:
        stream = array.__cuda_array_interface__.get("stream")
        if stream is not None:
            _core.synchronize_device(_ordinal(array))


def _ordinal(array: Any) -> int:
    from ._arrays import device_of

    name = device_of(array) or "cuda:0"
    return int(name.partition(":")[2] or 0)


def _planar(array: Any, axes: Axes) -> tuple[Any, Axes] | None:
    """The array with its pictures in the last two axes, if its library can do that."""
    order = [axis for axis in (axes.time, axes.z, axes.channel) if axis is not None]
    order += [axis for axis in range(axes.ndim) if axis not in order]
    library = library_of(array)
    if library == "torch":
        moved = array.permute(order).contiguous()
    elif library == "cupy":
        moved = sys.modules["cupy"].ascontiguousarray(array.transpose(order))
    else:
        return None
    place = {axis: i for i, axis in enumerate(order)}
    at = [None if a is None else place[a] for a in (axes.time, axes.z, axes.channel)]
    return moved, Axes(axes.ndim, *at)


def _empty_like(array: Any, device: int) -> Any:
    library = library_of(array)
    if library == "torch":
        return sys.modules["torch"].empty_like(array, memory_format=sys.modules["torch"].contiguous_format)
    if library == "cupy":
        with array.device:
            return sys.modules["cupy"].empty(array.shape, array.dtype)
    interface = array.__cuda_array_interface__
    return _core.DeviceArray.empty(list(interface["shape"]), interface["typestr"], device)


def _as_given(result: Any, array: Any) -> Any:
    """The result as an array of the library that the input's is of."""
    if library_of(array) not in ("jax", "jaxlib"):
        return result
    from jax.dlpack import from_dlpack

    return from_dlpack(result)  # of the same memory


def _moved_back(result: Any, array: Any, axes: Axes) -> Any:
    order = [axis for axis in (axes.time, axes.z, axes.channel) if axis is not None]
    order += [axis for axis in range(axes.ndim) if axis not in order]
    inverse = [int(i) for i in np.argsort(order)]
    if library_of(array) == "torch":
        return result.permute(inverse).contiguous()
    return sys.modules["cupy"].ascontiguousarray(result.transpose(inverse))


def _values(view: DeviceView, device: int, preserve_range: bool) -> Values | None:
    """None where samples have to be converted first."""
    if view.dtype == np.uint8:
        return Values(8, 0.0, 1.0)
    if view.dtype != np.float32:
        return None
    times, slices, channels = view.shape[:3]
    planes = [(t, z, c) for t in range(times) for z in range(slices) for c in range(channels)]
    most = max(1, _LOOKED_AT // (view.shape[3] * view.shape[4]))
    some = planes[:: -(-len(planes) // most)]
    values = values_of(
        np.stack([to_host(view, device, place) for place in some]), preserve_range, False
    )
    return values if values.are_samples(view.dtype) else None


@dataclass(frozen=True)
class Source:
    """An array on a GPU as sessions there read it."""

    given: Any  # by the user
    given_axes: Axes
    array: Any  # the same, or another with its pictures row by row
    axes: Axes
    view: DeviceView
    device: int

    @property
    def moved(self) -> bool:
        return self.array is not self.given

    def empty(self) -> Any:
        """For a result; of the kind of `array`."""
        return _empty_like(self.array, self.device)

    def result(self, array: Any) -> Any:
        """What was made in empty(), as an array of the given one's kind."""
        if self.moved:
            return _moved_back(array, self.given, self.given_axes)
        return _as_given(array, self.given)

    def kept(self) -> "Source | None":
        """The same in memory that nobody else writes; None of libraries without a way to that."""
        library = library_of(self.array)
        if self.moved or library in ("jax", "jaxlib"):
            return self
        if library not in ("torch", "cupy"):
            return None
        copy = self.array.clone() if library == "torch" else self.array.copy()
        synchronize(copy)
        return Source(copy, self.axes, copy, self.axes, DeviceView(copy, self.axes), self.device)


def source_of(array: Any, axes: Axes) -> Source | None:
    """None where the array has to go through the host's memory."""
    if library_of(array) == "torch":
        torch = sys.modules["torch"]
        if array.dtype not in (torch.uint8, torch.float32):
            return None  # others have no such interface
        array = array.detach()
    if not hasattr(array, "__cuda_array_interface__"):
        return None
    synchronize(array)
    device, view = _ordinal(array), DeviceView(array, axes)
    if view.dtype not in (np.uint8, np.float32):
        return None
    if view.has_rows:
        return Source(array, axes, array, axes, view, device)
    planar = _planar(array, axes)
    if planar is None:
        return None
    source, at = planar
    synchronize(source)
    return Source(array, axes, source, at, DeviceView(source, at), device)


def denoise_on_device(
    array: Any, axes: Axes, work: Any, preserve_range: bool, models: Any
) -> Any | None:
    """The result on the same GPU; None where the array has to go through the host's memory.

    `models(view, values)` says the noise of each group of channels, and which these are.
    """
    source = source_of(array, axes) if work.method == "bm3d" else None
    if source is None:
        return None
    values = _values(source.view, source.device, preserve_range)
    if values is None:
        return None
    groups, noises = models(HostView(source.view, source.device), values)
    result = source.empty()
    out = DeviceView(result, source.axes)
    _run(replace(work, on_device=True), source.view, out, values, groups, noises, source.device)
    return source.result(result)


class FramesOnDevice:
    """The frames of one clip in a session whose results stay on the frames' GPU."""

    def __init__(self, session: Any, group: Group) -> None:
        self._session, self._group = session, group
        self._pending: deque[Source] = deque()  # nobody else may write what is in flight

    def push(self, source: Source) -> list[Any]:
        planes = [source.view.plane(0, 0, channel) for channel in self._group]
        ready = self._session.push_on_device(planes, source.device)
        self._pending.append(source)
        return [self.finished(result) for result in ready]

    def finished(self, result: Any) -> Any:
        source = self._pending.popleft()
        array = source.empty()
        view = DeviceView(array, source.axes)
        result.copy_to_device([view.plane(0, 0, channel) for channel in self._group])
        return source.result(array)


def _run(
    work: Any,
    view: DeviceView,
    out: DeviceView,
    values: Values,
    groups: Sequence[Group],
    noises: Sequence[Any],
    device: int,
) -> None:
    times, slices, _, height, width = view.shape
    for group, noise in zip(groups, noises):
        format = _core.Format.of(width, height, layout_of(group), values.bits)
        session = work.session(format, noise)
        try:
            for sequence in work.sequences(times, slices):
                pending: deque[tuple[int, int]] = deque()

                def store(result: Any, place: tuple[int, int]) -> None:
                    result.copy_to_device([out.plane(*place, c) for c in group])

                for place in sequence:
                    pending.append(place)
                    planes = [view.plane(*place, c) for c in group]
                    for result in session.push_on_device(planes, device):
                        store(result, pending.popleft())
                while (result := session.drain()) is not None:
                    store(result, pending.popleft())
        finally:
            session.close()  # nothing reads the array any more
