#pragma once
// Layout of the search windows of a thread block in the shared memory of a GPU. This file does not
// depend on CUDA.

// A thread block filters the groups of `across` x `down` reference patches. The union of their
// search windows in a frame is a rectangle.

// A window atlas is an array that contains the union of the search windows in each frame. If
// patches span two frames, one atlas contains the windows in the first frames of all frame pairs
// (time/frame_pairs.h), and another atlas contains the windows in the second frames.

// An atlas consists of strips, one below the other. A strip contains windows side by side. The
// upper strip begins with the window in the reference frame, or in the pair whose first frame is
// the reference frame.

#include <algorithm>
#include <array>
#include <cstddef>

#include "time/frames.h"

namespace lull::linear {

/// The parameters of the filter that determine the layout of the windows.
struct WindowWork {
  int window = 0, temporal_window = 0;  // sides of the search windows
  int side = 8;                         // side of the patches in samples
  int step = 1;                         // distance between reference patches
  int pairs = 1;
};

struct WindowAtlas {
  /// Number of reference patches of a thread block along x and y. The numbers are 0 if the windows
  /// do not fit.
  int across = 0, down = 0;
  /// Row pitch and size, in words, of the array that contains all search windows.
  int pitch = 0, words = 0;
  std::array<int, max_frames> first{};  // index of the first sample of each window

  [[nodiscard]] constexpr int groups() const { return across * down; }
};

/// Returns a window atlas (the array of all search windows). The upper strip contains
/// `upper_windows` + 1 windows. Each lower strip contains at least `min_columns` windows.
constexpr WindowAtlas arrange_windows(const WindowWork& work, int across, int down,
                                      int upper_windows, int min_columns) {
  const int extra_width = work.side - 1 + (across - 1) * work.step;
  const int extra_height = work.side - 1 + (down - 1) * work.step;
  const int width = work.temporal_window + extra_width,
            height = work.temporal_window + extra_height;
  const int others = work.pairs - 1;
  const int needed = std::max(work.window + extra_width + upper_windows * width,
                              std::min(min_columns, others) * width);
  WindowAtlas atlas{.across = across, .down = down};
  atlas.pitch = needed | 1;  // odd, so that the rows of a patch begin in different memory banks
  const int in_strip = atlas.pitch / width;
  int y = std::max(work.window + extra_height, upper_windows > 0 ? height : 0);
  for (int k = 1, x = work.window + extra_width; k <= others; ++k) {
    // Index of the window among the windows below the upper strip; negative for windows in the
    // upper strip.
    const int lower_index = k - 1 - upper_windows;
    if (lower_index >= 0) {
      if (lower_index % in_strip == 0 && lower_index > 0) y += height;
      x = lower_index % in_strip * width;
    }
    atlas.first[static_cast<std::size_t>(k)] = (lower_index < 0 ? 0 : y * atlas.pitch) + x;
    if (lower_index < 0) x += width;
  }
  if (others > upper_windows) y += height;
  atlas.words = y * atlas.pitch;
  return atlas;
}

/// Returns the smallest window atlas (the array of all search windows) for `across` x `down`
/// reference patches.
constexpr WindowAtlas smallest_atlas(const WindowWork& work, int across, int down) {
  WindowAtlas best;
  for (int upper_windows = 0; upper_windows < work.pairs; ++upper_windows)
    for (int min_columns = 1; min_columns <= std::max(1, work.pairs - 1 - upper_windows);
         ++min_columns) {
      const WindowAtlas atlas = arrange_windows(work, across, down, upper_windows, min_columns);
      if (best.words == 0 || atlas.words < best.words) best = atlas;
    }
  return best;
}

}  // namespace lull::linear
