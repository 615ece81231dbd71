#pragma once
// The parameters of non-local means, in the terms of Marques and Pardo 2013 (section 1) for
// pictures, and of Cuomo et al. 2014 (section 2) for volumes. weights.h defines the formulas.

#include <array>

#include "core/denoiser.h"
#include "core/params/profile.h"
#include "noise/noise_model.h"
#include "time/frames.h"

namespace lull::nlm {

using lull::Profile;

/// The function that converts distances to weights.
enum class Weights { exponential, polynomial };

/// Content of the padding of planes: the nearest border samples, or the mirror image of the plane.
enum class Border { replicate, mirror };

enum class Domain {
  pictures,  // single frames, or frames with their neighbours in time
  volumes,   // slices of volumes
};

inline constexpr int max_patch_radius = 8, max_search_radius = 20, max_block = 8;
/// Limits of the parameters for volumes, along all three axes.
inline constexpr int max_volume_patch_radius = 4, max_volume_search_radius = 10;

/// Parameters of non-local means. Lengths are in samples. A patch is a block of `block` x `block`
/// samples with a border of `patch_radius` samples. In volumes, a patch also extends `patch_radius`
/// slices before and after its block.
struct Params {
  NoiseModel noise;  // noise of the stored planes; planes with a sigma of 0 are not filtered
  Domain domain = Domain::pictures;
  int block = 4;          // side of a block: 1, 2, 4 or 8; 1: each sample has a patch around it
  int step = 2;           // distance between reference patches: 1, 2, 4 or 8, at most `block`
  int patch_radius = 0;   // W of Marques and Pardo, a of Cuomo, if `block` is 1; 0..8, volumes 0..4
  int search_radius = 5;  // S of Marques and Pardo, M of Cuomo; 1..20, in volumes 1..10
  Weights weights = Weights::polynomial;
  float h = 0.8f;  // strength, in units of the noise's sigma, > 0
  /// Number of noise variances that the filter subtracts from distances, 0..2. For two patches with
  /// equal content, noise contributes 2 variances to the distance.
  float correction = 2;
  // Additional weight beta of the difference between the means of two patches, 0..16.
  float mean_term = 3;
  Border border = Border::mirror;
  // Temporal radius R: the number of neighbouring frames before and after a frame, 0..8. The value
  // is 0 for volumes.
  int temporal = 0;
  /// Threshold for scene cuts, 0..1. A frame begins a new scene if the previous frames fail to
  /// predict more than this share of the frame (frame_relation.h). The value 0 disables scene cuts.
  float scene_cut = 0.5f;

  /// If true, the filter measures distances in Frame::guide, a frame of the same size and planes.
  /// The guide can be the result of an earlier filter. The filter assumes that the guide contains
  /// no noise.
  bool guided = false;
  /// If true, frames may have holes (Frame::holes). Patches that overlap a hole are not candidates.
  /// The frames must be grey and have no guide.
  bool holes = false;

  bool is_volume() const { return domain == Domain::volumes; }
  /// Returns the side of a patch in a plane, in samples.
  int patch_side() const { return block + 2 * patch_radius; }
  int patch_slices() const { return is_volume() ? 2 * patch_radius + 1 : 1; }
  int patch_samples() const { return patch_side() * patch_side() * patch_slices(); }
  /// Returns the number of estimates of each sample: the number of patches whose blocks cover the
  /// sample.
  int estimates() const { return (block / step) * (block / step); }
  /// Returns the maximum distance along x or y between a sample and the samples on which its result
  /// depends.
  int reach() const { return search_radius + patch_radius + block - 1; }
  /// Returns the maximum distance along z between a sample and the samples on which its result
  /// depends.
  int reach_slices() const { return is_volume() ? search_radius + patch_radius : 0; }
};

/// Returns the parameters of a profile for pictures. `paper` has the parameters of Marques and
/// Pardo, with 21x21 windows and 9x9 patches. Measurements determined the other profiles
/// (docs/measurements/nlm.md). The profiles `best` and `high` have the same parameters. `temporal`
/// becomes Params::temporal.
[[nodiscard]] Params make_params(Profile profile, const NoiseModel& noise, int temporal = 0);
/// Returns the parameters of a profile for volumes. `paper` has the parameters of Cuomo et al.,
/// with 11^3 windows and 3^3 patches, and the strength h of Coupe et al.
[[nodiscard]] Params make_volume_params(Profile profile, const NoiseModel& noise);

/// Returns how many earlier and how many later frames (in volumes: slices) influence the result of
/// a frame.
[[nodiscard]] Margin margin(const Params& params);

/// Checks the parameters.
/// @throws InvalidArgument  a parameter is outside the range that Params states; the message names
///     the first such parameter
void validate(const Params& params);

}  // namespace lull::nlm
