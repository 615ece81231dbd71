#pragma once
// The parameters of BM4D, in the terms of Maggioni, Katkovnik, Egiazarian and Foi 2013
// (doi:10.1109/TIP.2012.2210725), section II. BM4D is BM3D with cubes of voxels as patches, and
// with a three-dimensional search window.

#include <array>

#include "core/denoiser.h"
#include "core/params/profile.h"
#include "noise/noise_model.h"

namespace lull::bm4d {

using lull::Profile;

/// The phases in their order. Each phase matches and filters all cubes of a volume.
enum class Phase { first, second };

inline constexpr int max_cube = 4;     // L of the paper
inline constexpr int max_window = 15;  // side of the search window
inline constexpr int max_group = 32;   // M of the paper

/// Parameters of one phase. Lengths are in voxels. The transform of a cube is the DCT, and the
/// transform across a group is the Haar transform.
struct PhaseParams {
  int cube = 4;         // L: side of a cube, 3 or 4
  int window = 11;      // N_S: side of the search window, odd, 3..15
  int group = 16;       // M: maximum group size; power of two, 1..32
  int step = 3;         // N_step: distance between reference cubes, 1..cube
  float kaiser = 2.0f;  // beta of the aggregation window, 0 (no window) .. 4

  /// Returns the maximum displacement of candidates from a reference cube along each axis.
  constexpr int radius() const { return window / 2; }
  /// Returns the maximum distance along z, in slices, between an estimate of the phase and the
  /// samples that influence the estimate.
  constexpr int reach() const { return 2 * radius() + cube - 1; }
  bool operator==(const PhaseParams&) const = default;
};

struct Params {
  NoiseModel noise;          // must be white; planes with a sigma of 0 are not filtered
  PhaseParams hard;          // first phase: hard threshold, matched in the noisy volume
  PhaseParams wiener;        // second phase: Wiener filter, matched in the basic estimate
  float lambda = 2.9f;       // lambda_4D, threshold of the first phase in units of sigma, >= 0
  float lambda_mean = 1.0f;  // threshold for the mean over a group, in units of lambda, >= 0
  float mu2 = 1.0f;          // mu2 in the Wiener factor c^2 / (c^2 + mu2 sigma^2), > 0
  float mu2_mean = 0.5f;     // mu2 for the mean over a group, in units of mu2, >= 0
  int phases = 2;            // 1: the basic estimate is the result
  /// If true, the second phase compares each reference cube with all candidates in its search
  /// window. If false, the second phase instead selects its members from the groups of the first
  /// phase (propagation.h), provided that these groups have at least 8 members.
  bool second_search = false;

  constexpr bool reranks_groups() const { return phases == 2 && !second_search && hard.group >= 8; }
};

/// Returns the parameters of a profile. Measurements determined the parameters
/// (docs/measurements/volumes.md). The profiles `best` and `high` are equal.
/// @throws InvalidArgument  the profile is `paper`, which does not exist for BM4D
[[nodiscard]] Params make_params(Profile profile, const NoiseModel& noise);
/// Returns parameters for white noise. Elements of the argument are the standard deviations of the
/// planes.
[[nodiscard]] inline Params make_params(Profile profile, const std::array<float, 3>& sigma) {
  return make_params(profile, NoiseModel(sigma));
}

/// Returns the maximum side of a cube in any phase.
[[nodiscard]] constexpr int max_cube_side(const Params& params) {
  const int first = params.hard.cube, second = params.wiener.cube;
  return params.phases == 1 || first > second ? first : second;
}

/// Returns the numbers of earlier slices (`before`) and later slices (`after`) on which the result
/// of a slice depends. A session on the CPU returns the result of a slice when the session has
/// received `after` further slices.
[[nodiscard]] constexpr Margin margin(const Params& params) {
  const int reach = params.hard.reach() + (params.phases == 2 ? params.wiener.reach() : 0);
  return {.before = reach, .after = reach};
}

/// Checks the parameters.
/// @throws InvalidArgument a parameter is outside the range that this file states
void validate(const Params& params);

}  // namespace lull::bm4d
