#pragma once
// The parameters of non-local means, in the terms of Marques and Pardo 2013 (pictures: section 1)
// and of Cuomo et al. 2014 (volumes: section 2). weights.h has the formulas.

#include <array>

#include "core/denoiser.h"
#include "noise/noise_model.h"
#include "time/frames.h"

namespace lull::nlm {

enum class Profile { paper, fast, balanced, high };

/// How a distance becomes a weight.
enum class Weights { exponential, polynomial };

/// What planes show beyond their ends.
enum class Border { replicate, mirror };

enum class Domain {
  pictures,  // frames, each by itself or with those around it in time
  volumes,   // slices of volumes
};

inline constexpr int max_patch_radius = 8, max_search_radius = 20, max_block = 8;
/// Of volumes, in all three axes.
inline constexpr int max_volume_patch_radius = 4, max_volume_search_radius = 10;

/// Lengths are in samples. A patch is a block of `block` x `block` samples and what lies around it
/// up to `patch_radius`; in volumes it also reaches so many slices before and after.
struct Params {
  NoiseModel noise;  // of the planes as they are stored; those with a sigma of 0 pass through
  Domain domain = Domain::pictures;
  int block = 4;          // side of a block: 1, 2, 4 or 8; 1: each sample has a patch around it
  int step = 2;           // between reference patches: 1, 2, 4 or 8, at most `block`
  int patch_radius = 0;   // W of Marques and Pardo, a of Cuomo, where `block` is 1; 0..8, volumes 4
  int search_radius = 5;  // S of Marques and Pardo, M of Cuomo; 1..20, in volumes 1..10
  Weights weights = Weights::polynomial;
  float h = 0.8f;  // strength, in units of the noise's sigma, > 0
  /// Distances are less by so many variances of the noise: 2 is what noise adds to the distance of
  /// patches of equal content; 0..2.
  float correction = 2;
  float mean_term = 3;  // beta: how much the difference of patches' means counts besides, 0..16
  Border border = Border::mirror;
  int temporal = 0;  // R: patches come from so many frames before and after, 0..8; volumes: 0
  /// A frame begins a new scene where a greater share of it than this is not predicted by the
  /// frames before (frame_relation.h), 0..1; 0: never.
  float scene_cut = 0.5f;

  /// Distances are taken in Frame::guide, in place of the frame itself: a frame of the same size
  /// and planes, such as one that was filtered before. It counts as free of noise.
  bool guided = false;
  /// Frames may have holes (Frame::holes): patches that reach into one are nobody's candidates.
  /// Grey pictures, compared in themselves.
  bool holes = false;

  bool is_volume() const { return domain == Domain::volumes; }
  /// Side of a patch in a plane, and its slices.
  int patch_side() const { return block + 2 * patch_radius; }
  int patch_slices() const { return is_volume() ? 2 * patch_radius + 1 : 1; }
  int patch_samples() const { return patch_side() * patch_side() * patch_slices(); }
  /// Estimates of each sample: patches whose blocks cover it.
  int estimates() const { return (block / step) * (block / step); }
  /// How far from a sample others lie, in the plane, that its result depends on.
  int reach() const { return search_radius + patch_radius + block - 1; }
  /// The same along z, in volumes.
  int reach_slices() const { return is_volume() ? search_radius + patch_radius : 0; }
};

/// The parameters of a profile for this noise, in pictures. `paper` is Marques and Pardo's, with
/// their 21x21 windows and 9x9 patches; the others were chosen by measurement
/// (docs/measurements/nlm.md). `temporal`: see Params.
[[nodiscard]] Params make_params(Profile profile, const NoiseModel& noise, int temporal = 0);
/// The same in volumes. `paper` is Cuomo's, with 11^3 windows, 3^3 patches and Coupe's h.
[[nodiscard]] Params make_volume_params(Profile profile, const NoiseModel& noise);

/// How many frames, or slices, before and after one its result depends on.
[[nodiscard]] Margin margin(const Params& params);

/// @throws InvalidArgument naming the first parameter outside the range given above
void validate(const Params& params);

}  // namespace lull::nlm
