#pragma once
// The groups of all reference patches of a picture.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "linear/params.h"
#include "match/grid.h"
#include "match/match_params.h"
#include "match/motion_grid.h"
#include "time/frame_pairs.h"

namespace lull::linear {

/// Displacement of a candidate from its reference patch, in samples.
struct Displacement {
  int x = 0, y = 0;
};

/// Returns the displacement of the candidate with the index `index` (params.h).
constexpr Displacement displacement_of(int index, int window) {
  if (index == 0) return {};
  const int position = index - 1, radius = window / 2;
  return {position % window - radius, position / window - radius};
}

/// Returns `sizes`, adapted to a plane of width x height samples: patches are at most as large as
/// the plane, and the step is at most the side of a patch.
constexpr GroupSizes fitted(GroupSizes sizes, int width, int height) {
  const int shorter = width < height ? width : height;
  if (sizes.side > shorter) sizes.side = shorter;
  if (sizes.step > sizes.side) sizes.step = sizes.side;
  return sizes;
}

/// Returns the index of the first candidate in frame `frame` (params.h).
constexpr int first_index(const GroupSizes& sizes, int frame) {
  if (frame == 0) return 1;
  return 1 + sizes.window * sizes.window +
         (frame - 1) * sizes.temporal_window * sizes.temporal_window;
}

/// Converts `bonus` from the scale of mean squared differences to the scale of the matcher's
/// distances, which are sums over the `samples` samples of a patch.
inline std::uint32_t distance_bonus(float bonus, const GuideRange& range, int samples) {
  const float scale = static_cast<float>(guide_levels) / (range.high - range.low);
  return static_cast<std::uint32_t>(bonus * scale * scale * static_cast<float>(samples));
}

/// Returns the number of bundles in a row of reference patches. A bundle consists of 8x4 reference
/// patches with the same motion vectors (match/motion_grid.h).
constexpr int bundle_columns(const ReferenceGrid& grid) {
  return (grid.count_x + motion_columns - 1) / motion_columns;
}

/// The position of a patch: its frame, and its displacement from the reference patch. A two-frame
/// patch has the same displacement in its second frame.
struct Place {
  int frame = 0, x = 0, y = 0;
};

/// A searched frame (params.h, "Temporal filtering"). Frame 0 contains the reference patches.
struct SearchedFrame {
  int partner = no_frame;  // second frame of two-frame patches
  /// Displacement of the centre of the search window for each bundle (8x4 reference patches). If
  /// empty, all displacements are 0.
  std::vector<Motion> motion;
};

/// Parameters of the search for the groups of the reference patches of one frame.
struct Search {
  std::vector<SearchedFrame> frames = std::vector<SearchedFrame>(1);
  /// For each bundle (8x4 reference patches), true if its patches span two frames. If empty, no
  /// patches span two frames.
  std::vector<std::uint8_t> has_pairs;
  /// Motion bonus: the matcher subtracts this amount from the mean squared difference of the patch
  /// to which the motion vector points.
  float bonus = 0;
};

/// Groups as candidate indices. The first member is the reference patch, with the index 0. The
/// order of all other members is arbitrary.
class Groups {
 public:
  /// Makes the groups empty. `sizes` must be a result of fitted().
  void reset(int width, int height, const GroupSizes& sizes, Search search = {}) {
    sizes_ = sizes;
    grid_ = {width, height, sizes.step, sizes.side};
    search_ = std::move(search);
    const std::size_t count = static_cast<std::size_t>(grid_.count_x) * grid_.count_y;
    counts_.assign(count, 0);
    members_.resize(count * sizes.group);
  }

  const GroupSizes& sizes() const { return sizes_; }
  const ReferenceGrid& grid() const { return grid_; }
  const std::vector<SearchedFrame>& frames() const { return search_.frames; }

  std::span<const std::uint16_t> at(int i, int j) const {
    return {members_.data() + index(i, j) * sizes_.group, counts_[index(i, j)]};
  }
  /// Returns the memory for the members of a group. The caller must then call set_count().
  std::span<std::uint16_t> space(int i, int j) {
    return {members_.data() + index(i, j) * sizes_.group, static_cast<std::size_t>(sizes_.group)};
  }
  void set_count(int i, int j, int count) {
    counts_[index(i, j)] = static_cast<std::uint8_t>(count);
  }

  /// Returns the number of frames, 1 or 2, that the patches of a group span.
  int halves(int i, int j) const {
    return !search_.has_pairs.empty() && search_.has_pairs[bundle(i, j)] != 0 ? 2 : 1;
  }
  /// Returns the motion bonus. The matcher subtracts it from the distance of the candidate to which
  /// the motion vector points.
  std::uint32_t bonus(const GuideRange& range, int samples) const {
    return distance_bonus(search_.bonus, range, samples);
  }
  int first_index(int frame) const { return linear::first_index(sizes_, frame); }
  int window(int frame) const { return frame == 0 ? sizes_.window : sizes_.temporal_window; }
  /// Returns true if a patch that begins in frame `frame` can be a candidate. `halves` is the
  /// number of frames, 1 or 2, that each patch spans.
  bool has_candidates(int frame, int halves) const {
    return halves == 1 || search_.frames[frame].partner != no_frame;
  }
  /// Returns the displacement of the centre of the search window in a frame, for reference patch
  /// (i, j).
  Motion motion(int frame, int i, int j) const {
    const std::vector<Motion>& bundles = search_.frames[frame].motion;
    return bundles.empty() ? Motion{} : bundles[bundle(i, j)];
  }
  /// Returns the position of a candidate of reference patch (i, j).
  Place place(int i, int j, int candidate) const {
    if (candidate == 0) return {};
    int frame = 0;
    if (const int other = candidate - first_index(1); other >= 0)
      frame = 1 + other / (sizes_.temporal_window * sizes_.temporal_window);
    const Displacement in_window =
        displacement_of(candidate - first_index(frame) + 1, window(frame));
    const Motion centre = motion(frame, i, j);
    return {frame, centre.x + in_window.x, centre.y + in_window.y};
  }

 private:
  std::size_t index(int i, int j) const { return static_cast<std::size_t>(j) * grid_.count_x + i; }
  std::size_t bundle(int i, int j) const {
    return static_cast<std::size_t>(j / motion_rows) * bundle_columns(grid_) + i / motion_columns;
  }

  GroupSizes sizes_;
  ReferenceGrid grid_;
  Search search_;
  std::vector<std::uint8_t> counts_;
  std::vector<std::uint16_t> members_;
};

}  // namespace lull::linear
