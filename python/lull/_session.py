"""Denoising frame by frame."""

from __future__ import annotations

from collections import deque
from typing import Any, Iterable, Iterator, Literal, Sequence, Union

import numpy as np

from . import _core
from ._arrays import Convert, device_of, to_numpy
from ._axes import axes_of
from ._device import FramesOnDevice, Source, source_of
from ._denoise import METHODS, chosen_temporal, method_name
from ._noise import NoiseEstimate, groups_of, layout_of, given_sigmas
from ._values import Values, checked_names, whole_number


def _values_for(dtype: np.dtype, bits: int | None) -> Values:
    if dtype == np.uint16:
        bits = 16 if bits is None else bits
        if not 9 <= bits <= 16:
            raise ValueError(f"bits = {bits} (must be from 9 to 16 for uint16)")
        return Values(bits, 0.0, 1.0)
    if bits is not None:
        raise ValueError(f"bits for samples of type {dtype} (only uint16 has them); leave it out")
    if dtype == np.uint8:
        return Values(8, 0.0, 1.0)
    if dtype.kind == "f":
        return Values(32, 0.0, 1.0)
    raise ValueError(f"frames of {dtype} (must be uint8, uint16 or floats); convert them first")


def _type_of(dtype: Any) -> np.dtype:
    """Returns the type of the frames in the native byte order."""
    try:
        return np.dtype(dtype).newbyteorder("=")
    except TypeError:
        raise ValueError(f"dtype = {dtype!r} (must be uint8, uint16 or floats)") from None


class Session:
    """Denoises frames one by one, from a camera or from a clip that is too long for memory.

    Each frame has one result, in the same order, at most `latency` frames later. A session is
    thread-safe; calls are serialised.

    Parameters
    ----------
    shape : sequence of int
        Shape of a frame: (y, x), or with an additional axis of 1 or 3 channels.
    dtype : uint8, uint16 or floats
        Type of the frames; white is 255, 2^bits - 1, or 1.
    sigma : float, one for each channel, or NoiseEstimate
        Standard deviation of the noise in the units of the frames. It must be given, because a
        session gets each frame only once; :func:`lull.estimate_noise` estimates it from the first
        frames.
    channel_axis : int, optional
        Channel axis of the frames. Three channels are red, green and blue.
    profile : 'fast', 'balanced', 'high', 'best' (over time, with several times the cost of
        'high') or 'paper'
    temporal : int from 0 to 8, or 'auto'
        See :func:`lull.denoise`; 0 if the frames are not consecutive.
    method : 'auto', 'bm3d' or 'bm4d'
        bm4d: the frames are slices of one volume.
    device : 'auto', 'cpu', 'cuda', 'cuda:N' or 'reference'
    bits : int, optional
        For uint16: the bit depth, 9 to 16.
    threads : int
        Number of CPU threads; 0: one per core.
    matcher, cluster
        See :func:`lull.denoise`.

    Raises
    ------
    ValueError, MemoryError, lull.Error
        See :func:`lull.denoise`.
    """

    def __init__(
        self,
        shape: Sequence[int],
        dtype: Any = np.float32,
        sigma: Union[float, Sequence[float], NoiseEstimate, None] = None,
        *,
        channel_axis: int | None = None,
        profile: Literal["fast", "balanced", "high", "best", "paper"] = "balanced",
        temporal: Union[int, Literal["auto"]] = "auto",
        method: Literal["auto", "bm3d", "bm4d", "nlm"] = "auto",
        device: str = "auto",
        bits: int | None = None,
        threads: int = 0,
        matcher: Literal["window", "cluster"] = "window",
        cluster: str | None = None,
    ) -> None:
        if sigma is None or isinstance(sigma, str):
            raise ValueError("a session needs a sigma; lull.estimate_noise() returns one")
        if method not in METHODS:
            raise ValueError(f"method = {method!r} (must be auto, bm3d, bm4d or nlm)")
        checked_names(profile=profile, device=device, matcher=matcher, cluster=cluster or "")
        self._dtype = _type_of(dtype)
        self._values = _values_for(self._dtype, bits)
        if not isinstance(shape, Iterable):
            raise ValueError(f"shape = {shape!r} (must be that of a frame, such as (y, x))")
        self._shape = tuple(whole_number("shape", length) for length in shape)
        self._axes = axes_of(self._shape, channel_axis, None, None)
        if self._axes.z is not None:
            raise ValueError(f"frames of shape {self._shape} (must be two axes and channel_axis)")
        if min(self._shape) < 1:
            raise ValueError(f"frames of shape {self._shape} (they are empty)")
        channels = 1 if self._axes.channel is None else self._shape[self._axes.channel]
        if channels not in (1, 3):
            raise ValueError(f"frames of {channels} channels (must be 1 or 3); split them")
        self._group = groups_of(channels)[0]
        self._volume = method == "bm4d"
        temporal = chosen_temporal(temporal, not self._volume, profile)
        height, width = (n for i, n in enumerate(self._shape) if i != self._axes.channel)
        format = _core.Format.of(width, height, layout_of(self._group), self._values.bits)
        if isinstance(sigma, NoiseEstimate):
            model = sigma._models([self._group], self._values, sigma._shape)[0]
        else:
            levels = [s / self._values.unit for s in given_sigmas(sigma, channels)]
            model = _core.Noise.white((levels * 3)[:3])
        self._open = lambda results_on_device: _core.Session(
            format, model, method_name(method, self._volume), profile, device, temporal, False, threads,
            results_on_device, False, matcher, cluster or "",
        )  # fmt: skip
        self._session = self._open(False)
        self._closed = False
        self._on_device: FramesOnDevice | None = None  # set if the frames are on the session's GPU
        self._pending: deque[tuple[np.ndarray, list[np.ndarray], Convert]] = deque()
        self._count = 0

    @property
    def latency(self) -> int:
        """Maximum number of frames that the session receives before it returns the first result.

        In temporal filtering, repeated frames do not count.
        """
        return self._session.latency

    @property
    def device(self) -> str:
        """The device in use: "cpu", "cuda:0", ..."""
        return self._session.device

    def push(self, frame: Any, *, copy: bool = True) -> list[Any]:
        """Pushes a frame and returns the results that are ready, in the order of their frames.

        Without `copy`, the session reads a frame with contiguous rows in its own memory. The frame
        must not change until the session has returned its result. If the first frame of a clip is
        on the session's GPU, all frames and results of the clip stay there.
        """
        source = self._source_of(frame)
        if self._count == 0:
            self._select_memory(source is not None)
        elif self._on_device is not None and source is None:
            raise ValueError(
                f"a frame that is not on {self.device} (the first one of the clip is); "
                "move all frames there"
            )
        slice = self._count if self._volume else -1
        if self._on_device is not None and source is not None:
            self._count += 1
            return self._on_device.push(source, slice, copy)
        array, back = to_numpy(frame)
        if array.shape != self._shape or array.dtype != self._dtype:
            raise ValueError(
                f"a frame of {array.shape} {array.dtype} (the session's frames have {self._shape} "
                f"{self._dtype}); open another session"
            )
        keeps = not self._values.are_samples(self._dtype)
        array = array.copy() if keeps and copy else array
        view = self._axes.view(array)[0, 0]
        samples = [self._values.to_samples(view[channel]) for channel in self._group]
        ready = self._session.push(samples, slice, copy)
        self._pending.append((array, samples, back) if keeps else (array[:0], [], back))
        self._count += 1
        return [self._finished(result) for result in ready]

    def drain(self) -> Iterator[Any]:
        """Returns the results that remain after the last frame; ends the clip."""
        while (result := self._session.drain()) is not None:
            yield self._finished(result)
        self._count = 0
        self._pending.clear()

    def _source_of(self, frame: Any) -> Source | None:
        """Returns a frame that is on the session's GPU and can stay there, otherwise None."""
        if device_of(frame) != self.device or tuple(frame.shape) != self._shape:
            return None  # a wrong shape is reported by the check for host frames
        source = source_of(frame, self._axes)
        return source if source is not None and source.view.dtype == self._dtype else None

    def _select_memory(self, on_device: bool) -> None:
        """Opens another session if the results go to other memory than in the previous clip."""
        if self._closed or on_device == (self._on_device is not None):
            return
        self._session.close()
        self._session = self._open(on_device)
        self._on_device = FramesOnDevice(self._session, self._group, self._values) if on_device else None

    def denoise(self, frames: Iterable[Any]) -> Iterator[Any]:
        """Returns the results of a complete clip as they become ready."""
        for frame in frames:
            yield from self.push(frame)
        yield from self.drain()

    def close(self) -> None:
        """Frees the memory."""
        self._closed = True
        self._session.close()
        self._pending.clear()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _finished(self, result: Any) -> Any:
        if self._on_device is not None:
            return self._on_device.finished(result)
        array, samples, back = self._pending.popleft()
        out = np.empty(self._shape, self._dtype)
        view = self._axes.view(out)[0, 0]
        targets = [view[channel] for channel in self._group]
        if not samples:
            result.copy_to(targets)
            return back(out)
        old = self._axes.view(array)[0, 0]
        for_samples = [np.empty(one.shape, self._values.sample_type) for one in samples]
        result.copy_to(for_samples)
        for channel, target, new, before in zip(self._group, targets, for_samples, samples):
            target[...] = self._values.from_samples(new, before, old[channel])
        return back(out)
