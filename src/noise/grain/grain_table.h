#pragma once
// Film grain parameters of AV1, from which a player synthesises grain. The text format is the
// format "filmgrn1" of libaom. The fields are those of film_grain_params() in the AV1 bitstream
// specification (section 5.9.30), without the offsets that the specification adds to coded values.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lull {

/// A scaling function is linear between two points, and constant outside them.
struct ScalingPoint {
  int at = 0;     // luma of the decoded picture, 0..255 for every bit depth
  int scale = 0;  // 0..255: factor of the grain, in units of 2^-scaling_shift
  bool operator==(const ScalingPoint&) const = default;
};

inline constexpr int grain_lag = 3;
/// Positions of the samples that the filter reads, row by row, from (-3, -3) to (-1, 0) relative to
/// the filtered sample.
inline constexpr int grain_taps = 2 * grain_lag * (grain_lag + 1);
constexpr int tap_dx(int tap) { return tap % (2 * grain_lag + 1) - grain_lag; }
constexpr int tap_dy(int tap) { return tap / (2 * grain_lag + 1) - grain_lag; }

/// The grain of one scene, in planes Y, Cb and Cr. Chroma grain is scaled by the luma at its
/// position.
struct GrainParams {
  static constexpr std::array<int, 3> max_points{14, 10, 10};

  // Points with increasing luma; empty: a plane without grain.
  std::array<std::vector<ScalingPoint>, 3> points;
  int scaling_shift = 8;      // 8..11
  int ar_coeff_shift = 7;     // 6..9
  int grain_scale_shift = 0;  // 0..3
  /// Filter coefficients in units of 2^-ar_coeff_shift, -128..127.
  std::array<std::array<int, grain_taps>, 3> ar_coeffs{};
  std::array<int, 3> luma_coeff{};  // share of luma's grain in Cb and Cr; [0] is 0

  bool operator==(const GrainParams&) const = default;
};

/// The entry applies to frames from `start` up to, but not including, `end`, in units of 100 ns
/// after the first frame of the clip.
struct GrainEntry {
  std::int64_t start = 0, end = 0;
  std::optional<GrainParams> grain;  // empty: the frames get no grain
  bool operator==(const GrainEntry&) const = default;
};

using GrainTable = std::vector<GrainEntry>;

/// Returns the table in the format that libaom and SVT-AV1 read.
[[nodiscard]] std::string text_of(const GrainTable& table);

}  // namespace lull
