#pragma once
// Samples of slice stacks (NIfTI, TIFF) as files hold them, to the float samples of frames and
// back.
//
// A frame's sample f stands for the value low + f * span of the file, where `low` and `span` are
// chosen once for the whole stack (find_range): the values of nearly all samples lie in 0..1, which
// is what every backend is made for, whatever the units of the file. The way back is exact where it
// has to be: a sample that the filter left as it was is written with the bits that it came with.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/frame.h"

namespace lull::io {

enum class StoredType { u8, i8, u16, i16, u32, i32, u64, i64, f32, f64 };

/// Bytes of one sample.
int size_of(StoredType type);
/// "uint8", "int16", "float32" ...
std::string_view name_of(StoredType type);

/// How a file holds a sample: its value is slope * stored + inter.
struct StoredFormat {
  StoredType type = StoredType::u8;
  bool swapped = false;         // bytes in the order that is not this machine's
  double slope = 1, inter = 0;  // slope != 0, both finite
  bool operator==(const StoredFormat&) const = default;
};

struct ValueRange {
  double low = 0, span = 1;  // span > 0
};

/// The value that stands for white, 255 on the scale of 8 bits. Bytes know theirs. Floats are
/// mostly on the scale of 0..1, 0..255 or 0..65535: of these the one that the range fits. Else, and
/// for other integers, whose depth says nothing of what they hold, the range is the scale.
double white_of(const StoredFormat& format, const ValueRange& range);

/// Samples further from the range than this part of it are no noise that a Gaussian model knows
/// (hot pixels, fill values), and neither is what is not finite: they pass through unchanged;
/// frames have NaN in their place, for which filters see what is around (core/float_range.h, where
/// this is the range, too).
inline constexpr double outlier_margin = 0.5;

/// Collects the values of a stack, piece by piece, and chooses the range.
class RangeFinder {
 public:
  RangeFinder(const StoredFormat& format, std::uint64_t samples);
  /// Whole samples, in the order of the file.
  void add(std::span<const std::byte> stored);
  /// From the 0.01th to the 99.99th percentile, and on to the least and greatest value, but at most
  /// by half as much again on each side, so that a few hot pixels do not squeeze everything else.
  /// 0..1 for a stack without finite values; span 1 where all are equal.
  ValueRange range() const;
  /// Of the finite values; 0 if there are none.
  double minimum() const { return minimum_ <= maximum_ ? minimum_ : 0; }
  double maximum() const { return minimum_ <= maximum_ ? maximum_ : 0; }

 private:
  StoredFormat format_;
  std::uint64_t step_, to_skip_ = 0;  // samples from one that is collected to the next
  double minimum_, maximum_;
  std::vector<double> collected_;
};

/// The values of samples of a file.
void load_values(std::span<const std::byte> stored, const StoredFormat& format,
                 std::vector<double>& values);

/// `to.size()` samples of a file into a frame's.
void load_stored(std::span<const std::byte> stored, const StoredFormat& format,
                 const ValueRange& range, std::span<float> to);

/// Row `y` of a slice gets the value 0 outside of the slice's mask, if it has one that says so.
void zero_outside(const Frame& slice, int y, const StoredFormat& out, std::span<std::byte> row);

/// The way back into samples of format `out`, given what load_stored() was given. Integers are
/// rounded to nearest and clamped to what their type holds; NaN becomes the value 0 there.
void store_filtered(std::span<const float> filtered, std::span<const std::byte> original,
                    const StoredFormat& format, const ValueRange& range, const StoredFormat& out,
                    std::span<std::byte> to);

}  // namespace lull::io
