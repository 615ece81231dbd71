"""Conversion between the values of an array and the samples that lull filters.

Filters expect samples in 0..255, or floats in 0..1. Bytes are such samples, and so are floats in
the convention of scikit-image. The range of all other values is measured and mapped to 0..1.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

# Values that exceed the range by more than this share of the range are not noise. The same rule
# applies to the samples of files.
_REACH = 0.5
_MAX_SAMPLED = 1 << 22


def whole_number(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{name} = {value!r} (must be a whole number)") from None


def number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {value!r} (must be a number)") from None


def checked_names(**options: Any) -> None:
    """Checks that options are strings; the core checks the words."""
    for name, value in options.items():
        if not isinstance(value, str):
            raise ValueError(f"{name} = {value!r} (must be a string)")


@dataclass(frozen=True)
class Values:
    """value = low + sample * span; integer samples (bits 8 to 16) have low 0 and span 1."""

    bits: int
    low: float
    span: float

    @property
    def unit(self) -> float:
        """Size of one level of the 0..255 scale in the array's units."""
        return self.span / 255 if self.bits == 32 else ((1 << self.bits) - 1) / 255

    @property
    def zero(self) -> float:
        """Position of the value 0 on the 0..255 scale."""
        return -self.low / self.unit

    @property
    def sample_type(self) -> np.dtype:
        return np.dtype({8: np.uint8, 32: np.float32}.get(self.bits, np.uint16))

    def are_samples(self, dtype: np.dtype) -> bool:
        """Returns whether arrays of this type can be filtered without conversion."""
        return dtype == self.sample_type and self.low == 0 and self.span == 1

    def to_samples(self, values: np.ndarray) -> np.ndarray:
        if self.are_samples(values.dtype):
            return values
        if self.bits != 32 or (self.low == 0 and self.span == 1):
            return values.astype(self.sample_type)
        at = (values.astype(np.float64) - self.low) / self.span
        within = (at >= -_REACH) & (at <= 1 + _REACH)
        return np.where(within, at, np.nan).astype(np.float32)

    def to_unlimited_samples(self, values: np.ndarray) -> np.ndarray:
        """Converts values as to_samples() does, but also values far outside of the range."""
        if self.low == 0 and self.span == 1:
            return self.to_samples(values)
        return ((values.astype(np.float64) - self.low) / self.span).astype(np.float32)

    def from_samples(self, result: np.ndarray, samples: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Converts a result; samples that the filter did not change keep their exact values."""
        if self.are_samples(values.dtype):
            return result
        same = (result == samples) | np.isnan(result)
        return np.where(same, values, self.to_values(result, values.dtype))

    def to_values(self, samples: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """Converts samples to values of this type."""
        if self.are_samples(dtype):
            return samples
        found = samples.astype(np.float64) * self.span + self.low
        if dtype.kind != "f":
            limits = np.iinfo(dtype)
            found = np.clip(np.rint(np.nan_to_num(found)), limits.min, limits.max)
            # (The largest 64-bit integers cannot be represented as doubles.)
            with np.errstate(invalid="ignore"):
                found = np.where(found >= float(limits.max), limits.max, found.astype(dtype))
        with np.errstate(over="ignore"):
            return found.astype(dtype)


def _sampled_step(shape: tuple[int, ...], size: int) -> int:
    """Returns a step that visits all channels, columns, rows and frames of an array equally.

    A step with a common divisor with the length of an axis would skip indices of this axis.
    """
    step = max(1, size // _MAX_SAMPLED)
    while any(math.gcd(step, length) > 1 for length in shape):
        step += 1
    return step


def finite_sample(values: Any) -> np.ndarray:
    """Returns the finite values at evenly spread positions (numpy array or GPU view)."""
    step = _sampled_step(values.shape, values.size)
    if isinstance(values, np.ndarray):
        flat = values.reshape(-1) if values.flags.c_contiguous else values.ravel(order="K")
        some = flat[::step]
    else:
        some = values.every(step)
    return some[np.isfinite(some)]


def values_by_range(some: np.ndarray) -> Values:
    if some.size == 0:
        return Values(32, 0.0, 1.0)
    low, high = (float(v) for v in np.percentile(some.astype(np.float64), [0.01, 99.99]))
    reach = (high - low) / 2
    low, high = max(float(some.min()), low - reach), min(float(some.max()), high + reach)
    return Values(32, low, high - low if high > low else 1.0)


def values_of(array: Any, preserve_range: bool, volume: bool) -> Values:
    """Returns the scale of the values of an array (numpy or GPU view).

    The range is measured for slices of volumes, as for files, for floats with `preserve_range`, and
    for float arrays in which most values are greater than 1.
    """
    if array.dtype == np.uint8:
        return Values(8, 0.0, 1.0)
    if array.dtype == np.uint16 and not volume:
        greatest = int(array.max()) if array.size else 0
        return Values(max(9, greatest.bit_length()), 0.0, 1.0)
    some = finite_sample(array)
    picture = array.dtype.kind == "f" and not preserve_range and not volume
    if picture and 2 * np.count_nonzero(some > 1) <= some.size:
        return Values(32, 0.0, 1.0)
    return values_by_range(some)
