#pragma once
// How the search windows of neighbouring reference patches lie in shared memory, by what a device
// has for them. Nothing here needs a device.
//
// A thread block filters groups of across x down reference patches. The union of their windows in
// each pair of frames is a rectangle; all of them lie on one sheet, so that a sample's neighbours
// are equally far from it in whichever window it is: in the upper strip that of the frame's own
// pair and some of the others, in the strips below the rest. There is a sheet for each frame of a
// pair.

#include <algorithm>
#include <array>
#include <cstddef>

#include "cuda/device_limits.h"
#include "match/motion_grid.h"
#include "time/frames.h"

namespace lull::bm3d {

/// What is filtered.
struct WindowWork {
  int window = 0, temporal_window = 0;  // sides
  int side = 8, depth = 2;              // of patches
  int step = 1;                         // between reference patches
  int pairs = 1;
};

struct WindowSheet {
  int across = 0, down = 0;             // reference patches; none: the windows have no room
  int pitch = 0, words = 0;             // from row to row, of a sheet
  std::array<int, max_frames> first{};  // of each window: its first sample

  [[nodiscard]] constexpr int groups() const { return across * down; }
};

/// The sheet whose upper strip has `beside` of the other windows, and others at least `in_row`.
constexpr WindowSheet lay_out(const WindowWork& work, int across, int down, int beside,
                              int in_row) {
  const int more_x = work.side - 1 + (across - 1) * work.step;
  const int more_y = work.side - 1 + (down - 1) * work.step;
  const int width = work.temporal_window + more_x, height = work.temporal_window + more_y;
  const int others = work.pairs - 1;
  const int needed =
      std::max(work.window + more_x + beside * width, std::min(in_row, others) * width);
  WindowSheet sheet{.across = across, .down = down};
  sheet.pitch = needed | 1;  // rows of a patch begin in other banks
  const int in_strip = sheet.pitch / width;
  int y = std::max(work.window + more_y, beside > 0 ? height : 0);
  for (int k = 1, x = work.window + more_x; k <= others; ++k) {
    const int behind = k - 1 - beside;  // of those in the lower strips
    if (behind >= 0) {
      if (behind % in_strip == 0 && behind > 0) y += height;
      x = behind % in_strip * width;
    }
    sheet.first[static_cast<std::size_t>(k)] = (behind < 0 ? 0 : y * sheet.pitch) + x;
    if (behind < 0) x += width;
  }
  if (others > beside) y += height;
  sheet.words = y * sheet.pitch;
  return sheet;
}

/// The smallest sheet for so many reference patches.
constexpr WindowSheet smallest_sheet(const WindowWork& work, int across, int down) {
  WindowSheet best;
  for (int beside = 0; beside < work.pairs; ++beside)
    for (int in_row = 1; in_row <= std::max(1, work.pairs - 1 - beside); ++in_row) {
      const WindowSheet sheet = lay_out(work, across, down, beside, in_row);
      if (best.words == 0 || sheet.words < best.words) best = sheet;
    }
  return best;
}

}  // namespace lull::bm3d
