#pragma once
// Parameters of the matchers.

#include <array>
#include <optional>

#include "noise/noise_model.h"

namespace lull {

/// Bias added to the distance of the candidate at displacement (dx, dy) in the same frame. The bias
/// has the layout of an Autocorrelation, and is 0 at larger displacements.
using DistanceBias = Autocorrelation;

/// Parameters of clustered matching, which replaces the search window (clusters.h).
struct ClusterParams {
  int tile = 64;    // side of a tile in patches, 8..128
  int leaf = 48;    // maximum size of a cluster that is not split further, 8..128
  int tilings = 2;  // tilings shifted against each other, whose candidates are combined, 1..4
  friend constexpr bool operator==(const ClusterParams&, const ClusterParams&) = default;
};
/// The parameters of Tsai et al. 2016, section 3.
inline constexpr ClusterParams paper_clusters{.tile = 15, .leaf = 32, .tilings = 1};

/// Range of values in the guide. Clustered matching maps it to 8 bits.
struct GuideRange {
  float low = 0, high = 255;
};

/// Lengths are in samples. Distances are mean squared differences of patches on the 0..255 scale.
struct MatchParams {
  int window = 39;          // n: side of the search window, odd, 1..127
  int group = 16;           // N: maximum group size, power of two, 1..32
  int step = 3;             // p: distance between reference patches, 1..8
  float tau = 2500.0f;      // match threshold, > 0
  int temporal_window = 9;  // side of the search window in neighbouring frames, odd, 1..63
  /// Amount subtracted from the distance of the patch that motion predicts in a neighbouring frame
  /// (group.h), >= 0.
  float motion_bias = 0.0f;
  /// Search windows of a reference patch that propagates groups of its neighbours (propagation.h).
  /// The first is the side of the window in the reference frame, odd, 1 (none) .. window. The
  /// second is the side of the windows in neighbouring frames, 0 (none) or odd, up to
  /// temporal_window.
  int refine_window = 1, refine_temporal_window = 0;
  /// Bias for noise that is not white (group.h); null for white noise.
  const DistanceBias* bias = nullptr;
  /// Groups may have any number of members up to `group`, 1..64; else powers of two.
  bool any_size = false;
  /// Matching uses clusters instead of `window` and `temporal_window` if this member is set.
  std::optional<ClusterParams> clusters{};
  GuideRange range{};
};

}  // namespace lull
