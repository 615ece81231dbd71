// The `cpu` backend of linear combinations. Each block has its own tile. The engine adds the tiles
// in a fixed order, so results do not depend on the number of threads.

#include "linear/engine.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/plane.h"
#include "linear/cpu/kernels.h"
#include "linear/guide.h"
#include "match/cpu/threads.h"

namespace lull::linear {
namespace {

using namespace cpu;

/// Width and height, in samples, of the area that the reference patches of a block cover.
constexpr int block_side = 64;

/// The bounding box of the patches of all groups of a block, in one frame.
struct Area {
  int left = 0, top = 0, right = 0, bottom = 0;

  int width() const { return right - left; }
  int height() const { return bottom - top; }
  void include(const Area& other) {
    if (width() <= 0 || height() <= 0)
      *this = other;
    else
      *this = {std::min(left, other.left), std::min(top, other.top), std::max(right, other.right),
               std::max(bottom, other.bottom)};
  }
};

/// A block of reference patches, in columns i0 to i1 - 1 and rows j0 to j1 - 1 of the grid. `areas`
/// contains the bounding box of the block's groups in each frame.
struct Block {
  int i0, j0, i1, j1;
  std::vector<Area> areas;
};

/// The aggregation sums of a frame, or of an area of a frame.
struct CpuSums : Sums {
  std::ptrdiff_t stride = 0;
  Buffer<float> x, z, weights;

  void clear(int width, int height) {
    stride = round_up(width, padding) + padding;
    const std::size_t samples = stride * height;
    for (Buffer<float>* sum : {&x, &z, &weights})
      std::fill_n(sum->reserve(samples + padding), samples + padding, 0.0f);
  }
};

/// The aggregation sums of a block, one for each frame.
using Tile = std::vector<CpuSums>;

std::vector<Block> plan_blocks(const Groups& groups, int width, int height) {
  const GroupSizes& sizes = groups.sizes();
  const ReferenceGrid& grid = groups.grid();
  const int side = std::max(block_side / sizes.step, 1);
  std::vector<Block> blocks;
  for (int j = 0; j < grid.count_y; j += side)
    for (int i = 0; i < grid.count_x; i += side) {
      Block block{i, j, std::min(i + side, grid.count_x), std::min(j + side, grid.count_y), {}};
      block.areas.resize(groups.frames().size());
      blocks.push_back(std::move(block));
    }
  const auto include = [&](Block& block, int frame, int i0, int j0, int i1, int j1) {
    const Motion centre = groups.motion(frame, i0, j0);
    const int radius = groups.window(frame) / 2;
    const Area area{std::max(grid.x(i0) + centre.x - radius, 0),
                    std::max(grid.y(j0) + centre.y - radius, 0),
                    std::min(grid.x(i1 - 1) + centre.x + radius + sizes.side, width),
                    std::min(grid.y(j1 - 1) + centre.y + radius + sizes.side, height)};
    block.areas[frame].include(area);
    if (groups.halves(i0, j0) == 2 && groups.has_candidates(frame, 2))
      block.areas[groups.frames()[frame].partner].include(area);
  };
  for (Block& block : blocks)
    for (int frame = 0; frame < static_cast<int>(groups.frames().size()); ++frame)
      for (int j = block.j0; j < block.j1;) {  // the parts of bundles in the block
        const int below = std::min((j / motion_rows + 1) * motion_rows, block.j1);
        for (int i = block.i0; i < block.i1;) {
          const int right = std::min((i / motion_columns + 1) * motion_columns, block.i1);
          include(block, frame, i, j, right, below);
          i = right;
        }
        j = below;
      }
  return blocks;
}

/// Adds the sums of an area to the sums of its frame.
void add_area(const Area& area, const CpuSums& tile, bool has_z, CpuSums& frame) {
  for (int y = 0; y < area.height(); ++y) {
    const std::ptrdiff_t from = y * tile.stride;
    const std::ptrdiff_t to = (area.top + y) * frame.stride + area.left;
    for (int x = 0; x < area.width(); ++x) {
      frame.x.data()[to + x] += tile.x.data()[from + x];
      frame.weights.data()[to + x] += tile.weights.data()[from + x];
    }
    for (int x = 0; has_z && x < area.width(); ++x)
      frame.z.data()[to + x] += tile.z.data()[from + x];
  }
}

class CpuEngine : public Engine {
 public:
  explicit CpuEngine(int threads)
      : threads_(threads > 0 ? threads : tbb::this_task_arena::max_concurrency()),
        arena_(threads_),
        workspaces_(threads_),
        keys_(threads_),
        tiles_(threads_ == 1 ? 1 : 2 * threads_) {
    lull::cpu::allow_threads(threads_);
  }

  std::unique_ptr<Sums> make_sums() const override { return std::make_unique<CpuSums>(); }
  void clear(Sums& sums, int width, int height) const override {
    dynamic_cast<CpuSums&>(sums).clear(width, height);
  }

  void match(std::span<const PlaneView<const float>> guides, const GuideRange& range,
             const Holes* holes, Groups& groups) override {
    arena_.execute([&] {
      pairs_.resize(std::max(pairs_.size(), guides.size()));
      paired_.clear();
      for (std::size_t f = 0; f < guides.size(); ++f)
        paired_.push_back(pair_rows(guides[f], range, nullptr, pairs_[f]));
      marked_ = holes == nullptr ? paired_[0] : pair_rows(guides[0], range, holes, marked_pairs_);
      find_groups(range, groups);
    });
  }

  void combine(const Step& step, const Groups& groups,
               std::span<const FramePlane> frames) override {
    arena_.execute([&] { combine_blocks(step, groups, frames); });
  }

  void finish(const Step& step, int side, const Sums& sums, const PlaneState& plane) override {
    const auto& of_type = dynamic_cast<const CpuSums&>(sums);
    arena_.execute([&] {
      divide(plane.x, of_type, of_type.x.data(), side);
      if (step.has_z()) divide(plane.z, of_type, of_type.z.data(), side);
    });
  }

 private:
  /// Makes the quantised guide, in pairs of vertically adjacent samples. Marks the samples in
  /// `holes`, which may be null.
  PairedGuide pair_rows(PlaneView<const float> guide, const GuideRange& range, const Holes* holes,
                        Buffer<std::int32_t>& memory) {
    const int columns = round_up(guide.width + guide_border + guide_padding, padding);
    if (quantised_.width() != guide.width || quantised_.height() != guide.height)
      quantised_ = Plane<std::uint8_t>(guide.width, guide.height);
    quantise(guide, range, quantised_.view());
    std::int32_t* const pairs =
        memory.reserve(static_cast<std::size_t>(columns) * (guide.height + 2 * guide_border));
    tbb::parallel_for(-guide_border, guide.height + guide_border, [&](int y) {
      std::int32_t* const row = pairs + static_cast<std::ptrdiff_t>(y + guide_border) * columns;
      std::fill_n(row, columns, outside | outside << 16);
      for (int x = 0; x < guide.width; ++x) {
        const auto at = [&](int v) -> int {
          if (v < 0 || v >= guide.height) return outside;
          return holes != nullptr && holes->at(x, v) ? outside : quantised_.view()(x, v);
        };
        row[guide_border + x] = at(y) | at(y + 1) << 16;
      }
    });
    return {pairs + static_cast<std::ptrdiff_t>(guide_border) * columns + guide_border, columns};
  }

  void find_groups(const GuideRange& range, Groups& groups) {
    const ReferenceGrid& grid = groups.grid();
    const GroupSizes& sizes = groups.sizes();
    // Reference patches in a row are `step` samples apart, but the last patch may be closer to its
    // neighbour. A separate call of the matcher therefore processes the last patch. With several
    // frames, a call stays within one bundle (8x4 reference patches with the same motion vectors).
    const int fitting = (row_width - sizes.side) / sizes.step + 1;
    const int per_row =
        groups.frames().size() == 1 ? fitting : std::min<int>(fitting, motion_columns);
    const int regular = grid.last_x / sizes.step + 1;
    const int rows = (regular + per_row - 1) / per_row + (regular < grid.count_x ? 1 : 0);
    tbb::parallel_for(0, grid.count_y * rows, [&](int task) {
      const int j = task / rows, i = std::min(task % rows * per_row, regular);
      const int count = i < regular ? std::min(per_row, regular - i) : 1;
      find_row(range, i, j, count, groups);
    });
  }

  void find_row(const GuideRange& range, int i, int j, int count, Groups& groups) {
    const int halves = groups.halves(i, j), frames = static_cast<int>(groups.frames().size());
    std::array<SearchedGuide, max_frames> guides;
    std::size_t searched = 0;
    for (int f = 0; f < frames; ++f) {
      if (!groups.has_candidates(f, halves)) continue;
      const int partner = groups.frames()[f].partner;
      guides[searched++] = {f == 0 ? marked_ : paired_[f],
                            halves == 2 ? paired_[partner] : PairedGuide{}, groups.motion(f, i, j),
                            groups.window(f), groups.first_index(f)};
    }
    const ReferenceRow row{groups.grid().x(i),
                           groups.grid().y(j),
                           count,
                           groups.sizes(),
                           halves,
                           groups.bonus(range, groups.sizes().samples(halves)),
                           paired_[0],
                           guides[0].partner,
                           {guides.data(), searched},
                           groups.first_index(frames) - 1};
    Buffer<std::uint32_t>& memory = keys_[thread()];
    const std::size_t stride = row.key_stride();
    std::uint32_t* const keys = memory.reserve(stride * (row.count + 1) + padding);
    candidate_keys(row, keys);
    std::uint32_t limit = no_key;
    for (int r = 0; r < row.count; ++r)
      groups.set_count(i + r, j,
                       select_members(keys + r * stride, stride, groups.space(i + r, j), limit,
                                      keys + row.count * stride));
  }

  void combine_blocks(const Step& step, const Groups& groups, std::span<const FramePlane> frames) {
    const PlaneState& own = frames[0].plane;
    const PlaneStep plane{step, own.noise, groups.sizes().side};
    const std::vector<Block> blocks = plan_blocks(groups, own.y.width, own.y.height);
    for (Tile& tile : tiles_)
      if (tile.size() < frames.size()) tile.resize(frames.size());
    lull::cpu::run_in_order(
        blocks.size(), tiles_,
        [&](std::size_t b, Tile& tile) { combine_block(plane, groups, frames, blocks[b], tile); },
        [&](std::size_t b, const Tile& tile) {
          for (std::size_t f = 0; f < frames.size(); ++f)
            add_area(blocks[b].areas[f], tile[f], step.has_z(),
                     dynamic_cast<CpuSums&>(*frames[f].sums));
        });
  }

  void combine_block(const PlaneStep& plane, const Groups& groups,
                     std::span<const FramePlane> frames, const Block& block, Tile& tile) {
    std::array<FrameStep, max_frames> steps;
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const Area& area = block.areas[f];
      CpuSums& sums = tile[f];
      sums.clear(std::max(area.width(), 0), std::max(area.height(), 0));
      const std::ptrdiff_t origin = area.top * sums.stride + area.left;
      const PlaneState& state = frames[f].plane;
      steps[f] = {{state.x.data, state.x.stride},
                  {state.y.data, state.y.stride},
                  {state.z.data, state.z.stride},
                  {sums.x.data() - origin, plane.step.has_z() ? sums.z.data() - origin : nullptr,
                   sums.weights.data() - origin, sums.stride}};
    }
    std::array<Place, max_group> first, second;
    for (int j = block.j0; j < block.j1; ++j)
      for (int i = block.i0; i < block.i1; ++i) {
        const auto group = groups.at(i, j);
        const std::size_t halves = groups.halves(i, j);
        for (std::size_t m = 0; m < group.size(); ++m) {
          first[m] = second[m] = groups.place(i, j, group[m]);
          if (halves == 2) second[m].frame = groups.frames()[first[m].frame].partner;
        }
        combine_group(plane,
                      {groups.grid().x(i),
                       groups.grid().y(j),
                       {first.data(), group.size()},
                       {second.data(), (halves - 1) * group.size()}},
                      {steps.data(), frames.size()}, workspaces_[thread()]);
      }
  }

  /// Divides the sum of each sample by its sum of weights.
  static void divide(PlaneView<float> to, const CpuSums& frame, const float* sums, int side) {
    tbb::parallel_for(tbb::blocked_range<int>(0, to.height, 16), [&](const auto& rows) {
      std::vector<float> columns(to.width);
      for (int y = rows.begin(); y < rows.end(); ++y) {
        std::ranges::fill(columns, 0.0f);
        for (int v = std::max(y - side + 1, 0); v <= y; ++v)
          for (int x = 0; x < to.width; ++x)
            columns[x] += frame.weights.data()[v * frame.stride + x];
        for (int x = 0; x < to.width; ++x) {
          float weight = 0;
          for (int u = std::max(x - side + 1, 0); u <= x; ++u) weight += columns[u];
          to(x, y) = sums[y * frame.stride + x] / weight;
        }
      }
    });
  }

  static int thread() { return tbb::this_task_arena::current_thread_index(); }

  int threads_;
  tbb::task_arena arena_;
  Plane<std::uint8_t> quantised_;
  std::vector<Buffer<std::int32_t>> pairs_;  // one for each frame
  std::vector<PairedGuide> paired_;
  Buffer<std::int32_t> marked_pairs_;
  PairedGuide marked_;                       // the guide of the first frame, with marked holes
  std::vector<Workspace> workspaces_;        // one for each thread
  std::vector<Buffer<std::uint32_t>> keys_;  // one for each thread
  std::vector<Tile> tiles_;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(int threads) {
  return std::make_unique<CpuEngine>(threads);
}

}  // namespace lull::linear
