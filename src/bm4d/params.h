#pragma once
// The parameters of BM4D, in the terms of Maggioni, Katkovnik, Egiazarian and Foi 2013
// (doi:10.1109/TIP.2012.2210725), section II: BM3D whose patches are cubes of voxels, searched in a
// window in three dimensions.

#include <array>

#include "core/denoiser.h"
#include "noise/noise_model.h"

namespace lull::bm4d {

enum class Profile { fast, balanced, high };

/// What a method does to a volume, in this order: each phase matches and filters all its cubes.
enum class Phase { first, second };

inline constexpr int max_cube = 4;     // L of the paper
inline constexpr int max_window = 15;  // side of the search window
inline constexpr int max_group = 32;   // M of the paper

/// One phase. Lengths are in voxels. The transforms are the DCT in a cube and Haar across a group.
struct PhaseParams {
  int cube = 4;         // L: side of a cube, 3 or 4
  int window = 11;      // N_S: side of the search window, odd, 3..15
  int group = 16;       // M: cubes in a group at most; power of two, 1..32
  int step = 3;         // N_step: between reference cubes, 1..cube
  float kaiser = 2.0f;  // beta of the aggregation window, 0 (no window) .. 4

  /// How far its candidates lie from a reference cube, along each axis.
  constexpr int radius() const { return window / 2; }
  /// A slice's estimates in this phase depend on so many slices on either side.
  constexpr int reach() const { return 2 * radius() + cube - 1; }
  bool operator==(const PhaseParams&) const = default;
};

struct Params {
  NoiseModel noise;          // white; planes with a sigma of 0 pass through
  PhaseParams hard;          // first phase: hard threshold, matched in the noisy volume
  PhaseParams wiener;        // second: Wiener, matched in the basic estimate
  float lambda = 2.9f;       // lambda_4D, threshold of the first phase in units of sigma, >= 0
  float lambda_mean = 1.0f;  // threshold for the mean over a group, in units of the others', >= 0
  float mu2 = 1.0f;          // Wiener factor c^2 / (c^2 + mu2 sigma^2), > 0
  float mu2_mean = 0.5f;     // mu2 for the mean over a group, in units of the others', >= 0
  int phases = 2;            // 1: the basic estimate is the result
  /// Whether the second phase searches its windows; else it ranks what groups of the first phase
  /// nearby have (propagation.h), of which 8 members at least are needed.
  bool second_search = false;

  constexpr bool ranks_anew() const { return phases == 2 && !second_search && hard.group >= 8; }
};

/// The parameters of a profile, chosen by measurement (docs/measurements/volumes.md).
[[nodiscard]] Params make_params(Profile profile, const NoiseModel& noise);
/// For white noise with these standard deviations.
[[nodiscard]] inline Params make_params(Profile profile, const std::array<float, 3>& sigma) {
  return make_params(profile, NoiseModel(sigma));
}

/// The greatest side of a cube in any phase.
[[nodiscard]] constexpr int greatest_cube(const Params& params) {
  const int first = params.hard.cube, second = params.wiener.cube;
  return params.phases == 1 || first > second ? first : second;
}

/// How many slices before and after one its result depends on; it is ready when so many have come
/// after it.
[[nodiscard]] constexpr Margin margin(const Params& params) {
  const int reach = params.hard.reach() + (params.phases == 2 ? params.wiener.reach() : 0);
  return {.before = reach, .after = reach};
}

/// @throws InvalidArgument naming the first parameter outside the range given above
void validate(const Params& params);

}  // namespace lull::bm4d
