#pragma once
// What a matcher looks for.

#include <array>
#include <optional>

#include "noise/noise_model.h"

namespace lull {

/// What is added to the distance of the candidate (dx, dy) away in the same frame, laid out as an
/// Autocorrelation; 0 beyond.
using DistanceBias = Autocorrelation;

/// Clustered matching in place of a window: clusters.h.
struct ClusterParams {
  int tile = 64;    // side of a tile in patches, 8..128
  int leaf = 48;    // patches of a cluster that is not split any more, 8..128
  int tilings = 2;  // shifted against each other, whose candidates are joined, 1..4
  friend constexpr bool operator==(const ClusterParams&, const ClusterParams&) = default;
};
/// As in Tsai 2016, section 3.
inline constexpr ClusterParams paper_clusters{.tile = 15, .leaf = 32, .tilings = 1};

/// The values that the picture to match in has, of which clusters are made in 8 bits.
struct GuideRange {
  float low = 0, high = 255;
};

/// Lengths are in samples; distances are mean squared differences of patches on the 0..255 scale.
struct MatchParams {
  int window = 39;          // n: side of the search window, odd, 1..127
  int group = 16;           // N: patches in a group at most; power of two, 1..32
  int step = 3;             // p: between reference patches, 1..8
  float tau = 2500.0f;      // match threshold, > 0
  int temporal_window = 9;  // side of the window searched in other frames, odd, 1..63
  /// Taken off the distance of the patch where motion predicts it in another frame (group.h), >= 0.
  float place_bonus = 0.0f;
  /// What a patch that propagates looks at beside the groups of others (propagation.h): sides of
  /// the windows in its own frame, odd, 1 (none) .. window; and in other frames, 0 (none) or odd,
  /// up to temporal_window.
  int near_window = 1, near_temporal_window = 0;
  /// Null: none, as for white noise (group.h).
  const DistanceBias* bias = nullptr;
  /// Groups may have any number of patches up to `group`, 1..64.
  bool any_size = false;
  /// What `window` and `temporal_window` are replaced by; empty: by nothing.
  std::optional<ClusterParams> clusters{};
  GuideRange range{};
};

}  // namespace lull
