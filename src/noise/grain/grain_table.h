#pragma once
// Film grain parameters of AV1, from which a player synthesises grain. The text format is
// "filmgrn1" of libaom. The parameters come from film_grain_params() in the AV1 bitstream
// specification (section 5.9.30). The bitstream codes some parameters with an offset, for example
// ar_coeff_shift_minus_6. This file uses the values without an offset.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lull {

/// A point of a scaling function. The function is linear between its points, and constant before
/// the first and after the last point.
struct ScalingPoint {
  int at = 0;     // luma of the decoded picture, 0..255 for every bit depth
  int scale = 0;  // 0..255: factor of the grain, in units of 2^-scaling_shift
  bool operator==(const ScalingPoint&) const = default;
};

inline constexpr int grain_lag = 3;
/// Number of samples that a grain filter reads: the samples before the filtered sample in row
/// order, at the offsets (-3, -3) to (-1, 0).
inline constexpr int grain_taps = 2 * grain_lag * (grain_lag + 1);
constexpr int tap_dx(int tap) { return tap % (2 * grain_lag + 1) - grain_lag; }
constexpr int tap_dy(int tap) { return tap / (2 * grain_lag + 1) - grain_lag; }

/// The grain of one scene, in the planes Y, Cb and Cr. The luma at each position scales the chroma
/// grain.
struct GrainParams {
  static constexpr std::array<int, 3> max_points{14, 10, 10};

  // Points of the scaling function of each plane, with increasing luma. A plane without points has
  // no grain.
  std::array<std::vector<ScalingPoint>, 3> points;
  int scaling_shift = 8;      // 8..11
  int ar_coeff_shift = 7;     // 6..9
  int grain_scale_shift = 0;  // 0..3
  /// Filter coefficients in units of 2^-ar_coeff_shift, -128..127.
  std::array<std::array<int, grain_taps>, 3> ar_coeffs{};
  std::array<int, 3> luma_coeff{};  // share of luma's grain in Cb and Cr; [0] is 0

  bool operator==(const GrainParams&) const = default;
};

/// The grain of the frames from `start` up to, but not including, `end`. Times are in units of 100
/// ns after the first frame of the clip.
struct GrainEntry {
  std::int64_t start = 0, end = 0;
  std::optional<GrainParams> grain;  // empty: the frames get no grain
  bool operator==(const GrainEntry&) const = default;
};

using GrainTable = std::vector<GrainEntry>;

/// Returns the grain table as text in the format that libaom and SVT-AV1 read.
[[nodiscard]] std::string text_of(const GrainTable& table);

}  // namespace lull
