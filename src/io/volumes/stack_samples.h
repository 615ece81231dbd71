#pragma once
// Converts between the stored samples of stacks (NIfTI, TIFF) and the float samples of frames.

// A frame sample f means the value low + f * span in the file. RangeFinder chooses `low` and `span`
// so that almost all samples are in 0..1, as the backends require. Samples that a filter does not
// change keep their bits in the output.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/frame.h"

namespace lull::io {

enum class StoredType { u8, i8, u16, i16, u32, i32, u64, i64, f32, f64 };

/// Returns the number of bytes of a sample.
int size_of(StoredType type);
/// Returns a name such as "uint8", "int16" or "float32".
std::string_view name_of(StoredType type);

/// Format of a sample in a file. A stored sample s has the value slope * s + inter.
struct StoredFormat {
  StoredType type = StoredType::u8;
  bool swapped = false;         // bytes are not in native order
  double slope = 1, inter = 0;  // slope != 0, both finite
  bool operator==(const StoredFormat&) const = default;
};

struct ValueRange {
  double low = 0, span = 1;  // span > 0
};

/// Returns the difference of values that corresponds to a noise level of 255:
/// - 255 for 8-bit samples;
/// - the maximum of the scale for floats whose range fits a common scale (0..1, 0..255 or
///   0..65535);
/// - the span of the range for all other samples.
double white_of(const StoredFormat& format, const ValueRange& range);

/// Margin around the range of values, in units of the span, into which noise may move samples.
/// Samples beyond the margin are outliers (hot pixels, fill values). Frames contain NaN instead of
/// outliers and infinities, and filters inpaint NaN. The output keeps the original samples.
inline constexpr double outlier_margin = 0.5;

/// Collects the values of a stack in several calls, and chooses the range of values.
class RangeFinder {
 public:
  RangeFinder(const StoredFormat& format, std::uint64_t samples);
  /// Adds the next samples in file order. `stored` must consist of complete samples.
  void add(std::span<const std::byte> stored);
  /// Returns the range from the minimum to the maximum of the finite values. To exclude hot pixels,
  /// the range extends at most d / 2 beyond the 0.01th and the 99.99th percentile, where d is the
  /// distance between these percentiles. If no value is finite, the range is 0..1. If all finite
  /// values are equal, `span` is 1.
  ValueRange range() const;
  /// Minimum and maximum of the finite values; 0 without finite values.
  double minimum() const { return minimum_ <= maximum_ ? minimum_ : 0; }
  double maximum() const { return minimum_ <= maximum_ ? maximum_ : 0; }

 private:
  /// Updates the minimum and the maximum with `count` samples of type T.
  template <class T>
  void add_extremes(const std::byte* stored, std::size_t count);

  StoredFormat format_;
  std::uint64_t step_, to_skip_ = 0;  // distance between collected samples
  double minimum_, maximum_;
  std::vector<double> collected_;
};

/// Converts stored samples of a file to values in the units of the file.
void load_values(std::span<const std::byte> stored, const StoredFormat& format,
                 std::vector<double>& values);

/// Converts values to the stored samples `to`, whose size must match exactly. For integer types,
/// the function rounds to nearest and clamps. NaN becomes the value 0.
void store_values(std::span<const double> values, const StoredFormat& format,
                  std::span<std::byte> to);

/// Converts `to.size()` samples of a file to samples of a frame.
void load_stored(std::span<const std::byte> stored, const StoredFormat& format,
                 const ValueRange& range, std::span<float> to);

/// Sets the samples of row `y` outside the mask of the slice to the value 0. Does nothing without a
/// mask, or if SliceMask::zero() returns false.
void zero_outside(const Frame& slice, int y, const StoredFormat& out, std::span<std::byte> row);

/// Converts filtered samples to stored samples of the format `out`. `original`, `format` and
/// `range` must be the arguments of load_stored(). For integer types, the function rounds to
/// nearest and clamps. NaN becomes the value 0.
void store_filtered(std::span<const float> filtered, std::span<const std::byte> original,
                    const StoredFormat& format, const ValueRange& range, const StoredFormat& out,
                    std::span<std::byte> to);

}  // namespace lull::io
