#pragma once
// What a matcher looks for.

#include <array>

#include "noise/noise_model.h"

namespace lull {

/// What is added to the distance of the candidate (dx, dy) away in the same frame, laid out as an
/// Autocorrelation; 0 beyond.
using DistanceBias = Autocorrelation;

/// Lengths are in samples; distances are mean squared differences of patches on the 0..255 scale.
struct MatchParams {
  int window = 39;          // n: side of the search window, odd, 1..127
  int group = 16;           // N: patches in a group at most; power of two, 1..32
  int step = 3;             // p: between reference patches, 1..8
  float tau = 2500.0f;      // match threshold, > 0
  int temporal_window = 9;  // side of the window searched in other frames, odd, 1..63
  /// Taken off the distance of the patch where motion predicts it in another frame (group.h), >= 0.
  float place_bonus = 0.0f;
  /// Null: none, as for white noise (group.h).
  const DistanceBias* bias = nullptr;
  /// Groups may have any number of patches up to `group`, 1..64.
  bool any_size = false;
};

}  // namespace lull
