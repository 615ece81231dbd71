#pragma once
// Film grain as AV1 carries it: what a player needs to make noise that looks like that of a clip,
// and libaom's text of it, "filmgrn1". The fields are those of film_grain_params() in the AV1
// bitstream specification (section 5.9.30), without the offsets that they have there.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lull {

/// The part of a scaling function between two points is linear, that beyond them constant.
struct ScalingPoint {
  int at = 0;     // luma of the decoded picture, 0..255 whatever the bit depth
  int scale = 0;  // 0..255: the grain's factor, in units of 2^-scaling_shift
  bool operator==(const ScalingPoint&) const = default;
};

inline constexpr int grain_lag = 3;
/// The samples before one, row by row, from (-3, -3) to (-1, 0).
inline constexpr int grain_taps = 2 * grain_lag * (grain_lag + 1);
constexpr int tap_dx(int tap) { return tap % (2 * grain_lag + 1) - grain_lag; }
constexpr int tap_dy(int tap) { return tap / (2 * grain_lag + 1) - grain_lag; }

/// The grain of one scene, in planes Y, Cb and Cr. Chroma is scaled by the luma that it lies under.
struct GrainParams {
  static constexpr std::array<int, 3> most_points{14, 10, 10};

  std::array<std::vector<ScalingPoint>, 3> points;  // rising; none: a plane without grain
  int scaling_shift = 8;                            // 8..11
  int ar_coeff_shift = 7;                           // 6..9
  int grain_scale_shift = 0;                        // 0..3
  /// In units of 2^-ar_coeff_shift, -128..127.
  std::array<std::array<int, grain_taps>, 3> ar_coeffs{};
  std::array<int, 3> luma_coeff{};  // of Cb and Cr: what they take from the luma grain; [0] is 0

  bool operator==(const GrainParams&) const = default;
};

/// Frames from `start` on, before `end`, both in units of 100 ns after the clip's first frame.
struct GrainEntry {
  std::int64_t start = 0, end = 0;
  std::optional<GrainParams> grain;  // empty: there is none
  bool operator==(const GrainEntry&) const = default;
};

using GrainTable = std::vector<GrainEntry>;

/// The table as libaom and SVT-AV1 read it.
[[nodiscard]] std::string text_of(const GrainTable& table);

}  // namespace lull
