#pragma once
// Parameters of the matchers.

#include <array>
#include <optional>

#include "noise/noise_model.h"

namespace lull {

/// Bias that the matcher adds to the distance of the candidate at displacement (dx, dy) in the same
/// frame. The bias has the layout of an Autocorrelation. At displacements beyond the lags of an
/// Autocorrelation, the bias is 0.
using DistanceBias = Autocorrelation;

/// Parameters of clustered matching, which replaces the search window (clusters.h).
struct ClusterParams {
  int tile = 64;    // side of a tile in patches, 8..128
  int leaf = 48;    // maximum size of a cluster that is not split further, 8..128
  int tilings = 2;  // number of shifted tilings whose candidates are combined, 1..4
  friend constexpr bool operator==(const ClusterParams&, const ClusterParams&) = default;
};
/// The parameters of Tsai et al. 2016 (clusters.h), section 3.
inline constexpr ClusterParams paper_clusters{.tile = 15, .leaf = 32, .tilings = 1};

/// Range of the sample values in the guide, which clustered matching maps to 8 bits.
struct GuideRange {
  float low = 0, high = 255;
};

/// Parameters of the matchers. Lengths are in samples. Distances are mean squared differences of
/// patches on the 0..255 scale.
struct MatchParams {
  int window = 39;          // n: side of the search window, odd, 1..127
  int group = 16;           // N: maximum group size, power of two, 1..32
  int step = 3;             // p: distance between reference patches, 1..8
  float tau = 2500.0f;      // match threshold, > 0
  int temporal_window = 9;  // side of the search window in neighbouring frames, odd, 1..63
  /// In a neighbouring frame, the matcher subtracts this amount, >= 0, from the distance of the
  /// patch to which the motion vector points (group.h).
  float motion_bias = 0.0f;
  /// Sides of the refinement windows (propagation.h), whose patches are candidates in addition to
  /// the members of stored groups. `refine_window` is the side in the reference frame: 1 (no
  /// search), or another odd number up to `window`. `refine_temporal_window` is the side in
  /// neighbouring frames: 0 (no search), or an odd number up to `temporal_window`.
  int refine_window = 1, refine_temporal_window = 0;
  /// Bias of distances for coloured noise (group.h). Null for white noise.
  const DistanceBias* bias = nullptr;
  /// If set, the matcher uses clusters (clusters.h), and ignores `window` and `temporal_window`.
  std::optional<ClusterParams> clusters{};
  GuideRange range{};
};

}  // namespace lull
