"""Denoising of arrays in GPU memory without copies to host memory."""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass, replace
from typing import Any, Callable, Sequence

import numpy as np

from . import _core
from ._arrays import device_of, library_of, put_on_device
from ._axes import Axes
from ._noise import Group
from ._values import Values

Place = tuple[int, int]  # position of a frame: time, z


def synchronize(array: Any) -> None:
    """Waits for the queued work of the array's library that writes the array."""
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
    name = device_of(array) or "cuda:0"
    return int(name.partition(":")[2] or 0)


@dataclass(frozen=True)
class _Memory:
    """The memory of an array."""

    address: int
    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    read_only: bool


def _packed(shape: Sequence[int], dtype: np.dtype) -> tuple[int, ...]:
    return tuple(dtype.itemsize * int(np.prod(shape[i + 1 :])) for i in range(len(shape)))


def _memory_of(array: Any) -> _Memory | None:
    """Returns the memory of an array; None if its numbers cannot be read directly."""
    if library_of(array) == "torch":  # torch supports the CUDA array interface for some types only
        try:
            dtype = np.dtype(str(array.dtype).partition(".")[2])
        except TypeError:
            return None
        strides = tuple(dtype.itemsize * stride for stride in array.stride())
        memory = _Memory(array.data_ptr(), dtype, tuple(array.shape), strides, False)
    else:
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is None:
            return None
        dtype, shape = np.dtype(interface["typestr"]), tuple(interface["shape"])
        strides = tuple(interface.get("strides") or _packed(shape, dtype))
        memory = _Memory(interface["data"][0], dtype, shape, strides, interface["data"][1])
    aligned = all(at % dtype.itemsize == 0 for at in (memory.address, *memory.strides))
    numbers = dtype.kind in "uif" and dtype.itemsize <= 8 and dtype.isnative
    return memory if numbers and aligned else None


class DeviceView:
    """A (time, z, channel, y, x) view of an array on a GPU.

    The view copies to the host only the values from which lull measures the range and the noise.
    """

    def __init__(
        self,
        owner: Any,
        device: int,
        address: int,
        dtype: np.dtype,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> None:
        self._owner = owner  # keeps the memory alive
        self.device, self.address, self.dtype = device, address, dtype
        self.shape, self.strides = shape, strides
        self.size = int(np.prod(shape))

    @classmethod
    def of(cls, array: Any, memory: _Memory, axes: Axes, device: int) -> "DeviceView":
        named = (axes.time, axes.z, axes.channel)
        rest = axes.picture_axes()
        shape = [1 if a is None else memory.shape[a] for a in named]
        strides = [0 if a is None else memory.strides[a] for a in named]
        return cls(
            array,
            device,
            memory.address,
            memory.dtype,
            (*shape, *(memory.shape[a] for a in rest)),
            (*strides, *(memory.strides[a] for a in rest)),
        )

    def image(self, place: Place, group: Group, values: Values) -> Any:
        """Returns the planes of a frame for a session on the GPU."""
        t, z = (i * stride for i, stride in zip(place, self.strides))
        planes = [
            (self.address + t + z + channel * self.strides[2], self.strides[3], self.strides[4])
            for channel in group
        ]
        return _core.DeviceImage(self.device, self.dtype.str, values.low, values.span, planes)

    def copied(self) -> "DeviceView":
        """Returns a copy in GPU memory that no other array shares."""
        copy = self._gathered(self.address, self.shape, self.strides, 1)
        address = copy.__cuda_array_interface__["data"][0]
        strides = _packed(self.shape, self.dtype)
        return DeviceView(copy, self.device, address, self.dtype, self.shape, strides)

    def is_like(self, other: "DeviceView") -> bool:
        return self.shape == other.shape and self.dtype == other.dtype

    def overlaps(self, other: "DeviceView") -> bool:
        (low, high), (others_low, others_high) = self._extent(), other._extent()
        return low < others_high and others_low < high

    def max(self) -> int:
        """Returns the maximum of 16-bit integers."""
        return _core.max_u16(self.address, self.shape, self.strides, self.device)

    def every(self, step: int) -> np.ndarray:
        """Returns every `step`-th number in memory order."""
        order = sorted(range(len(self.shape)), key=lambda axis: -abs(self.strides[axis]))
        return self._on_host(
            self.address, [self.shape[i] for i in order], [self.strides[i] for i in order], step
        )

    def __getitem__(self, place: tuple[int, int, int]) -> np.ndarray:
        """Returns the plane at (time, z, channel)."""
        address = self.address + sum(i * stride for i, stride in zip(place, self.strides))
        plane = self._on_host(address, self.shape[3:], self.strides[3:], 1)
        return plane.reshape(self.shape[3:])

    def _extent(self) -> tuple[int, int]:
        reach = [(length - 1) * stride for length, stride in zip(self.shape, self.strides)]
        end = self.address + sum(max(r, 0) for r in reach) + self.dtype.itemsize
        return self.address + sum(min(r, 0) for r in reach), end

    def _gathered(
        self, address: int, shape: Sequence[int], strides: Sequence[int], step: int
    ) -> Any:
        return _core.DeviceArray.gathered(
            address, list(shape), list(strides), step, self.dtype.str, self.device
        )

    def _on_host(
        self, address: int, shape: Sequence[int], strides: Sequence[int], step: int
    ) -> np.ndarray:
        there = self._gathered(address, shape, strides, step)
        host = np.empty(there.shape, self.dtype)
        there.get_into(host)
        return host


def _empty_like(array: Any, device: int) -> Any:
    library = library_of(array)
    if library == "torch":
        torch = sys.modules["torch"]
        return torch.empty_like(
            array, memory_format=torch.contiguous_format, requires_grad=False
        )
    if library == "cupy":
        with array.device:
            return sys.modules["cupy"].empty(array.shape, array.dtype)
    interface = array.__cuda_array_interface__
    return _core.DeviceArray.empty(list(interface["shape"]), interface["typestr"], device)


@dataclass(frozen=True)
class Source:
    """An array on a GPU and its view for sessions on that GPU."""

    given: Any  # the array that the user gave
    array: Any  # `given`, or a copy with another number type
    axes: Axes
    view: DeviceView

    def empty(self) -> tuple[Any, DeviceView]:
        """Returns an uninitialised array for a result, of the same library as `array`."""
        array = _empty_like(self.array, self.view.device)
        synchronize(array)  # its memory may still be in use by queued work
        memory = _memory_of(array)
        assert memory is not None
        return array, DeviceView.of(array, memory, self.axes, self.view.device)

    def result(self, array: Any) -> Any:
        """Converts an array from empty() to the library and type of the given array."""
        library = library_of(self.given)
        if library == "torch":
            return array.to(self.given.dtype)
        if library not in ("jax", "jaxlib"):
            return array
        from jax.dlpack import from_dlpack

        return from_dlpack(array)  # shares the memory

    def copied(self) -> "Source":
        return replace(self, view=self.view.copied())


def source_of(array: Any, axes: Axes) -> Source | None:
    """Returns None if the array must be copied through host memory."""
    given = array
    if library_of(array) == "torch":
        bfloat16 = array.dtype == sys.modules["torch"].bfloat16  # numpy does not support it
        array = (array.float() if bfloat16 else array).detach().resolve_neg()
    memory = _memory_of(array)
    if memory is None:
        return None
    synchronize(array)
    view = DeviceView.of(array, memory, axes, _ordinal(array))
    return Source(given, array, axes, view)


def _target_of(out: Any, source: Source) -> DeviceView | None:
    """Returns the view of `out` for results; None if they cannot be written there directly."""
    if device_of(out) != f"cuda:{source.view.device}" or library_of(out) in ("jax", "jaxlib"):
        return None
    memory, target = _memory_of(out), source_of(out, source.axes)
    if memory is None or memory.read_only or target is None:
        return None
    if target.view.address != memory.address:
        return None  # `out` is a lazy view of other numbers in memory
    if target.view.dtype != source.view.dtype:
        raise ValueError(f"out of type {target.view.dtype} (the image's is {source.view.dtype})")
    return target.view


def denoise_on_device(
    array: Any,
    axes: Axes,
    work: Any,
    values_of_view: Callable[[DeviceView], Values],
    models: Callable[[DeviceView, Values], tuple[Sequence[Group], Sequence[Any]]],
    guide: Any = None,
    out: Any = None,
) -> Any | None:
    """Denoises on the array's GPU; returns None if the array must be copied through host memory.

    `models(view, values)` returns the groups of channels and the noise of each group.
    """
    source = source_of(array, axes)
    if source is None:
        return None
    guide_source = None
    if guide is not None:
        guide_source = source_of(guide, axes) if device_of(guide) == device_of(array) else None
        if guide_source is None or not guide_source.view.is_like(source.view):
            return None
    values = values_of_view(source.view)
    groups, noises = models(source.view, values)
    target = None if out is None else _target_of(out, source)
    result, to = (out, target) if target is not None else source.empty()

    def read(one: Source) -> DeviceView:
        return one.view.copied() if one.view.overlaps(to) else one.view

    work = replace(work, on_device=True, guide=guide_source and read(guide_source))
    _run(work, read(source), to, values, groups, noises)
    if target is not None:
        return out
    result = source.result(result)
    return result if out is None else put_on_device(out, result)


class FramesOnDevice:
    """The frames of one clip in a session whose results stay on the frames' GPU."""

    def __init__(self, session: Any, group: Group, values: Values) -> None:
        self._session, self._group, self._values = session, group, values
        self._pending: deque[Source] = deque()  # keeps the frames in flight alive

    def push(self, source: Source, slice: int, copy: bool) -> list[Any]:
        """Pushes a frame. With `copy` it may be changed when this returns."""
        copy = copy and library_of(source.given) not in ("jax", "jaxlib")
        if copy and not self._values.are_samples(source.view.dtype):
            source = source.copied()  # results are converted with the help of its numbers
        ready = self._session.push_on_device(self._image(source.view), slice, copy)
        self._pending.append(source)
        return [self.finished(result) for result in ready]

    def finished(self, result: Any) -> Any:
        source = self._pending.popleft()
        array, view = source.empty()
        result.copy_to_device(self._image(view), self._image(source.view))
        return source.result(array)

    def _image(self, view: DeviceView) -> Any:
        return view.image((0, 0), self._group, self._values)


def _run(
    work: Any,
    view: DeviceView,
    out: DeviceView,
    values: Values,
    groups: Sequence[Group],
    noises: Sequence[Any],
) -> None:
    times, slices = view.shape[:2]
    for group, noise in zip(groups, noises):
        session = work.session(work.format(view.shape, group, values), noise)
        pending: deque[Place] = deque()

        def store(result: Any) -> None:
            place = pending.popleft()
            result.copy_to_device(
                out.image(place, group, values), view.image(place, group, values)
            )

        try:
            for sequence in work.sequences(times, slices):
                for place in sequence:
                    pending.append(place)
                    guide = work.guide and work.guide.image(place, group, values)
                    image = view.image(place, group, values)
                    for result in session.push_on_device(
                        image, work.slice_number(place), False, guide
                    ):
                        store(result)
                while (result := session.drain()) is not None:
                    store(result)
        finally:
            session.close()  # ends all reads of the array
