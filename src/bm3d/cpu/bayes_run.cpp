// Runs a Bayes phase on the reference patches of one frame. Each task processes one bundle: up to
// 8x4 reference patches with the same motion vectors (match/motion_grid.h).

#include <tbb/task_arena.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "bm3d/cpu/bayes.h"
#include "match/grid.h"
#include "match/motion_grid.h"
#include "match/second_half.h"
#include "time/frame_pairs.h"

namespace lull::bm3d::cpu {
namespace {

constexpr std::size_t max_group_floats =
    static_cast<std::size_t>(max_bayes_pitch) * max_large_group;  // number of floats of a group

/// The one or two frames that a patch spans.
struct Pair {
  int offset = 0;  // offset of the first of these frames
  std::array<std::size_t, 2> frame{};
};

/// A member of a group: its frame pair, and its position in the first frame of the pair.
struct Member {
  std::size_t pair = 0;
  int x = 0, y = 0;
};

/// For each frame pair, the displacement from the position of a candidate in the first frame to its
/// position in the second frame (match/second_half.h). In a frame pair, all candidates of a task
/// have the same displacement.
using SecondHalves = std::array<Motion, max_frames>;

class BayesRun {
 public:
  BayesRun(const PhaseInput& input, BayesMemory& memory)
      : input_(input),
        plan_(input.plan),
        memory_(memory),
        width_(input.frames[0].frame.guide.samples.width),
        height_(input.frames[0].frame.guide.samples.height),
        side_(plan_.side(width_, height_)),
        columns_(reference_count(width_, plan_.params.step, side_)),
        rows_(reference_count(height_, plan_.params.step, side_)),
        motion_grid_{width_, height_, plan_.params.step} {
    std::vector<int> offsets;
    for (const PhaseFrame& frame : input.frames) offsets.push_back(frame.offset);
    const auto partners = partners_of(offsets);
    depth_ = partners[0] == no_frame ? 1 : 2;
    for (std::size_t f = 0; f < offsets.size(); ++f)
      if (partners[f] != no_frame || f == 0)
        pairs_.push_back({offsets[f], {f, static_cast<std::size_t>(std::max(partners[f], 0))}});
    for (int j = 0; j < rows_; j += motion_rows)
      for (int i = 0; i < columns_; i += motion_columns)
        tasks_.push_back(
            {{i, j, std::min(motion_columns, columns_ - i), std::min(motion_rows, rows_ - j)}});
  }

  void run(std::vector<Tile>& tiles) {
    run_in_order(
        tasks_, tiles, [&](Tile& tile) { run_task(tile); },
        [&](Tile& tile) { add_tile(tile, input_); });
  }

 private:
  /// x_of() and y_of() return the position of the reference patch in column `i` and row `j` of the
  /// grid.
  int x_of(int i) const { return reference_position(i, width_, plan_.params.step, side_); }
  int y_of(int j) const { return reference_position(j, height_, plan_.params.step, side_); }

  Motion motion(const Pair& pair, const Block& block, int half = 0) const {
    const auto& motion = input_.frames[pair.frame[half]].frame.guide.motion;
    return motion.empty() ? Motion{} : motion[motion_grid_.bundle(block.x, block.y)];
  }
  SecondHalves second_halves(const Block& block) const {
    SecondHalves halves{};
    if (depth_ == 1) return halves;
    const auto guide = [&](const Pair& pair) {
      return input_.frames[pair.frame[1]].frame.guide.samples;
    };
    for (std::size_t n = 1; n < pairs_.size(); ++n) {
      const Motion first = motion(pairs_[n], block);
      const Motion acceleration =
          motion_acceleration(first, motion(pairs_[n], block, 1), motion(pairs_[0], block, 1));
      halves[n] =
          second_half(guide(pairs_[0]), guide(pairs_[n]),
                      compared_area(motion_grid_, side_, block.x, block.y, first, acceleration),
                      first, acceleration);
    }
    return halves;
  }
  int radius(const Pair& pair) const {
    return (pair.offset == 0 ? plan_.params.window : plan_.params.temporal_window) / 2;
  }

  /// Returns the bounding box of the patches of all groups of a block, in the first frame of a
  /// pair.
  Area reach(const Block& block, const Pair& pair) const {
    const Motion m = motion(pair, block);
    const int r = radius(pair), last_x = width_ - side_, last_y = height_ - side_;
    const int right = x_of(block.x + block.columns - 1), bottom = y_of(block.y + block.rows - 1);
    Area area{std::max(0, x_of(block.x) + m.x - r), std::max(0, y_of(block.y) + m.y - r),
              std::min(last_x, right + m.x + r) + side_,
              std::min(last_y, bottom + m.y + r) + side_};
    area.right = std::max(area.left, area.right);
    area.bottom = std::max(area.top, area.bottom);
    return area;
  }

  static Area united(const Area& a, const Area& b) {
    if (a.width() == 0 || a.height() == 0) return b;
    if (b.width() == 0 || b.height() == 0) return a;
    return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right),
            std::max(a.bottom, b.bottom)};
  }

  Area moved(const Area& area, Motion by) const {
    return {std::clamp(area.left + by.x, 0, width_), std::clamp(area.top + by.y, 0, height_),
            std::clamp(area.right + by.x, 0, width_), std::clamp(area.bottom + by.y, 0, height_)};
  }

  void clear_tile(Tile& tile, const SecondHalves& halves) const {
    for (std::size_t f = 0; f < input_.frames.size(); ++f) tile.frames[f].area = {0, 0, 0, 0};
    for (std::size_t n = 0; n < pairs_.size(); ++n) {
      const Area first = reach(tile.task->block, pairs_[n]);
      for (int k = 0; k < depth_; ++k) {
        Area& area = tile.frames[pairs_[n].frame[k]].area;
        area = united(area, k == 0 ? first : moved(first, halves[n]));
      }
    }
    for (std::size_t f = 0; f < input_.frames.size(); ++f) {
      TilePart& part = tile.frames[f];
      part.stride = round_up(part.area.width(), 16) | 16;
      const std::size_t samples = part.stride * part.area.height();
      for (std::size_t p = 0; p < input_.planes(); ++p)
        for (Buffer<float>* sums : {&part.numerator[p], &part.weights[p]})
          std::fill_n(sums->reserve(samples), samples, 0.0f);
    }
  }

  void run_task(Tile& tile) {
    const Block& block = tile.task->block;
    const SecondHalves halves = second_halves(block);
    clear_tile(tile, halves);
    BayesWorkspace& work = memory_.workspaces[tbb::this_task_arena::current_thread_index()];
    std::array<Member, max_large_group> members;
    for (int j = 0; j < block.rows; ++j)
      for (int i = 0; i < block.columns; ++i) {
        const int count = find(block, halves, x_of(block.x + i), y_of(block.y + j), work, members);
        const std::span<const Member> group{members.data(), static_cast<std::size_t>(count)};
        for (std::size_t p = 0; p < input_.planes(); ++p) {
          filter(p, group, halves, work);
          add(p, group, halves, work, tile);
        }
      }
  }

  PatchAt guide_at(const Pair& pair, int x, int y, Motion second) const {
    const auto guide = [&](int k) { return input_.frames[pair.frame[k]].frame.guide.samples; };
    PatchAt at{guide(0).row(y) + x, nullptr};
    if (depth_ == 2) at[1] = guide(1).row(y + second.y) + x + second.x;
    return at;
  }

  /// Writes the reference patch at (x, y) and the most similar patches to `members`, in the order
  /// of match/group.h. Returns their number.
  int find(const Block& block, const SecondHalves& halves, int x, int y, BayesWorkspace& work,
           std::array<Member, max_large_group>& members) const {
    auto& candidates = work.candidates;
    auto& keys = work.keys;
    candidates.clear();
    keys.clear();
    const std::ptrdiff_t stride = input_.frames[0].frame.guide.samples.stride;
    const PatchAt own = guide_at(pairs_[0], x, y, {});
    for (std::size_t n = 0; n < pairs_.size(); ++n) {
      const Pair& pair = pairs_[n];
      const Motion m = motion(pair, block), second = halves[n];
      const int r = radius(pair), cx = x + m.x, cy = y + m.y;
      const int left = std::max({0, -second.x, cx - r}), top = std::max({0, -second.y, cy - r});
      const int right = std::min({0, -second.x, cx + r - width_ + side_}) + width_ - side_;
      const int bottom = std::min({0, -second.y, cy + r - height_ + side_}) + height_ - side_;
      if (left > right) continue;
      float* const distances = work.distances.reserve(right - left + 1);
      for (int v = top; v <= bottom; ++v) {
        bayes_distances({own, guide_at(pair, left, v, second), stride, side_, right - left + 1},
                        distances);
        for (int u = left; u <= right; ++u) {
          float distance = distances[u - left];
          if (u == cx && v == cy) {
            if (n == 0) continue;
            distance = std::max(0.0f, distance - plan_.params.motion_bias);
          }
          keys.push_back(std::uint64_t{std::bit_cast<std::uint32_t>(distance)} << 32 |
                         candidates.size());
          candidates.push_back({static_cast<std::uint32_t>(n), u, v});
        }
      }
    }
    const auto wanted = std::min<std::ptrdiff_t>(plan_.params.group - 1, std::ssize(keys));
    std::partial_sort(keys.begin(), keys.begin() + wanted, keys.end());
    members[0] = {0, x, y};
    for (std::ptrdiff_t k = 0; k < wanted; ++k) {
      const BayesCandidate& found = candidates[static_cast<std::uint32_t>(keys[k])];
      members[k + 1] = {found.pair, found.x, found.y};
    }
    return static_cast<int>(wanted) + 1;
  }

  /// Returns the position of a member in the first (`k` = 0) or second (`k` = 1) frame of its pair.
  static std::array<int, 2> position(const Member& member, int k, const SecondHalves& halves) {
    const Motion shift = k == 0 ? Motion{} : halves[member.pair];
    return {member.x + shift.x, member.y + shift.y};
  }

  int samples() const { return side_ * side_ * depth_; }

  /// Copies the patches of a plane to the rows of an array.
  float* gather(std::array<PlaneView<const float>, 3> PhasePlanes::*plane, std::size_t p,
                std::span<const Member> group, const SecondHalves& halves,
                Buffer<float>& memory) const {
    float* const patches = memory.reserve(max_group_floats);
    for (std::size_t m = 0; m < group.size(); ++m) {
      float* to = patches + m * bayes_pitch(samples());
      for (int k = 0; k < depth_; ++k) {
        const PhasePlanes& frame = input_.frames[pairs_[group[m].pair].frame[k]].frame;
        const PlaneView<const float> from = (frame.*plane)[p];
        const auto [x, y] = position(group[m], k, halves);
        for (int row = 0; row < side_; ++row, to += side_)
          std::copy_n(from.row(y + row) + x, side_, to);
      }
    }
    return patches;
  }

  void filter(std::size_t p, std::span<const Member> group, const SecondHalves& halves,
              BayesWorkspace& work) const {
    const bool uses_basic = plan_.filter == Filtering::bayes_basic;
    bayes_estimate(
        {.noisy = gather(&PhasePlanes::noisy, p, group, halves, work.noisy),
         .basic = uses_basic ? gather(&PhasePlanes::basic, p, group, halves, work.basic) : nullptr,
         .result = work.result.reserve(max_group_floats),
         .scratch = work.scratch.reserve(bayes_scratch_size),
         .count = static_cast<int>(group.size()),
         .group = plan_.params.group,
         .samples = samples(),
         .pitch = bayes_pitch(samples())},
        input_.noise(p).sigma, plan_.bayes);
  }

  void add(std::size_t p, std::span<const Member> group, const SecondHalves& halves,
           BayesWorkspace& work, Tile& tile) const {
    for (std::size_t m = 0; m < group.size(); ++m) {
      const float* from = work.result.data() + m * bayes_pitch(samples());
      for (int k = 0; k < depth_; ++k) {
        TilePart& part = tile.frames[pairs_[group[m].pair].frame[k]];
        const auto [x, y] = position(group[m], k, halves);
        const std::ptrdiff_t at = (y - part.area.top) * part.stride + x - part.area.left;
        part.weights[p].data()[at] += 1;
        float* to = part.numerator[p].data() + at;
        for (int row = 0; row < side_; ++row, to += part.stride, from += side_)
          for (int i = 0; i < side_; ++i) to[i] += from[i];
      }
    }
  }

  const PhaseInput& input_;
  const PhasePlan& plan_;
  BayesMemory& memory_;
  int width_, height_, side_;
  int columns_, rows_;  // number of reference patches in a row and in a column
  int depth_ = 2;       // number of frames over which a patch extends
  MotionGrid motion_grid_;
  std::vector<Pair> pairs_;
  std::vector<Task> tasks_;
};

}  // namespace

void run_bayes(const PhaseInput& input, BayesMemory& memory, std::vector<Tile>& tiles) {
  BayesRun(input, memory).run(tiles);
}

}  // namespace lull::bm3d::cpu
