"""What the values of an array stand for: between them and the samples that lull filters.

Filters are made for samples whose values are mostly in 0..255, or in 0..1 of floats. Bytes are, and
floats as scikit-image has them; of all else the range of the values is found, and brought there.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

# As for files: further from the range than this part of it no value is noise.
_REACH = 0.5
_MOST_LOOKED_AT = 1 << 22


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
    """Of options that are one of a few words; which, the core knows."""
    for name, value in options.items():
        if not isinstance(value, str):
            raise ValueError(f"{name} = {value!r} (must be a text)")


@dataclass(frozen=True)
class Values:
    """value = low + sample * span; of integers as they are (bits 8 to 16) low 0 and span 1."""

    bits: int
    low: float
    span: float

    @property
    def unit(self) -> float:
        """What one level of the 0..255 scale is in the array's units."""
        return self.span / 255 if self.bits == 32 else ((1 << self.bits) - 1) / 255

    @property
    def zero(self) -> float:
        """The value 0 on the 0..255 scale."""
        return -self.low / self.unit

    @property
    def sample_type(self) -> np.dtype:
        return np.dtype({8: np.uint8, 32: np.float32}.get(self.bits, np.uint16))

    def are_samples(self, dtype: np.dtype) -> bool:
        """Whether an array of this type has samples as they are."""
        return dtype == self.sample_type and self.low == 0 and self.span == 1

    def to_samples(self, values: np.ndarray) -> np.ndarray:
        if self.are_samples(values.dtype):
            return values
        if self.bits != 32 or (self.low == 0 and self.span == 1):
            return values.astype(self.sample_type)
        at = (values.astype(np.float64) - self.low) / self.span
        within = (at >= -_REACH) & (at <= 1 + _REACH)
        return np.where(within, at, np.nan).astype(np.float32)

    def from_samples(self, result: np.ndarray, samples: np.ndarray, values: np.ndarray) -> np.ndarray:
        """What the filter left as it was stays what it was in the array, to the bit."""
        if self.are_samples(values.dtype):
            return result
        same = (result == samples) | np.isnan(result)
        return np.where(same, values, self.to_values(result, values.dtype))

    def to_values(self, samples: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """The values of an array of this type."""
        if self.are_samples(dtype):
            return samples
        found = samples.astype(np.float64) * self.span + self.low
        if dtype.kind != "f":
            limits = np.iinfo(dtype)
            found = np.clip(np.rint(np.nan_to_num(found)), limits.min, limits.max)
            # (The greatest 64-bit integers are no doubles.)
            found = np.where(found >= float(limits.max), limits.max, found.astype(dtype))
        with np.errstate(over="ignore"):
            return found.astype(dtype)


def looked_at(values: Any) -> np.ndarray:
    """The finite ones of not too many values, spread evenly, of numpy's array or a view of a GPU's."""
    step = max(1, values.size // _MOST_LOOKED_AT)
    if isinstance(values, np.ndarray):
        flat = values.reshape(-1) if values.flags.c_contiguous else values.ravel(order="K")
        some = flat[::step]
    else:
        some = values.every(step)
    return some[np.isfinite(some)]


def measured(some: np.ndarray) -> Values:
    if some.size == 0:
        return Values(32, 0.0, 1.0)
    low, high = (float(v) for v in np.percentile(some.astype(np.float64), [0.01, 99.99]))
    reach = (high - low) / 2
    low, high = max(float(some.min()), low - reach), min(float(some.max()), high + reach)
    return Values(32, low, high - low if high > low else 1.0)


def values_of(array: Any, preserve_range: bool, volume: bool) -> Values:
    """Which scale the values of an array are on, of numpy's or a view of a GPU's.

    As with files, slices of volumes have values of any range; so have floats that are asked to keep
    theirs, and floats of which most are greater than 1.
    """
    if array.dtype == np.uint8:
        return Values(8, 0.0, 1.0)
    if array.dtype == np.uint16 and not volume:
        greatest = int(array.max()) if array.size else 0
        return Values(max(9, greatest.bit_length()), 0.0, 1.0)
    some = looked_at(array)
    picture = array.dtype.kind == "f" and not preserve_range and not volume
    if picture and 2 * np.count_nonzero(some > 1) <= some.size:
        return Values(32, 0.0, 1.0)
    return measured(some)
