// The cpu backend: divides the picture into blocks of reference patches and runs the kernels on
// them. The division into blocks depends only on the size of the picture and the sizes of the
// groups. Each block adds its estimates to its own tile, and the tiles are added to the picture in
// the order of the blocks. So the result does not depend on the number of threads.

#include "linear/engine.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/plane.h"
#include "linear/cpu/kernels.h"
#include "linear/guide.h"
#include "match/cpu/threads.h"

namespace lull::linear {
namespace {

using namespace cpu;

/// Side of the area that the reference patches of a block cover, in samples.
constexpr int block_side = 64;

/// A block: the reference patches with i0 <= i < i1 and j0 <= j < j1, and the area that contains
/// all patches of their groups.
struct Block {
  int i0, j0, i1, j1;
  int left = 0, top = 0, right = 0, bottom = 0;

  int width() const { return right - left; }
  int height() const { return bottom - top; }
};

/// The sums of weighted estimates in a block, or in the complete picture.
struct Sums {
  std::ptrdiff_t stride = 0;
  Buffer<float> x, z, weights;

  void clear(int width, int height) {
    stride = round_up(width, padding) + padding;
    const std::size_t samples = stride * height;
    for (Buffer<float>* sum : {&x, &z, &weights})
      std::fill_n(sum->reserve(samples + padding), samples + padding, 0.0f);
  }
};

std::vector<Block> plan_blocks(const Groups& groups, int width, int height) {
  const GroupSizes& sizes = groups.sizes();
  const ReferenceGrid& grid = groups.grid();
  const int side = std::max(block_side / sizes.step, 1), radius = sizes.window / 2;
  std::vector<Block> blocks;
  for (int j = 0; j < grid.count_y; j += side)
    for (int i = 0; i < grid.count_x; i += side) {
      Block block{.i0 = i,
                  .j0 = j,
                  .i1 = std::min(i + side, grid.count_x),
                  .j1 = std::min(j + side, grid.count_y)};
      block.left = std::max(grid.x(i) - radius, 0);
      block.top = std::max(grid.y(j) - radius, 0);
      block.right = std::min(grid.x(block.i1 - 1) + radius + sizes.side, width);
      block.bottom = std::min(grid.y(block.j1 - 1) + radius + sizes.side, height);
      blocks.push_back(block);
    }
  return blocks;
}

/// Adds rows of the sums of a tile to the sums of the picture.
void add_tile(const Block& block, const Sums& tile, bool has_z, Sums& picture) {
  for (int y = 0; y < block.height(); ++y) {
    const std::ptrdiff_t from = y * tile.stride;
    const std::ptrdiff_t to = (block.top + y) * picture.stride + block.left;
    for (int x = 0; x < block.width(); ++x) {
      picture.x.data()[to + x] += tile.x.data()[from + x];
      picture.weights.data()[to + x] += tile.weights.data()[from + x];
    }
    for (int x = 0; has_z && x < block.width(); ++x)
      picture.z.data()[to + x] += tile.z.data()[from + x];
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

  void match(PlaneView<const float> guide, const GuideRange& range,
             const GroupSizes& sizes) override {
    groups_.reset(guide.width, guide.height, fitted(sizes, guide.width, guide.height));
    arena_.execute([&] {
      pair_rows(guide, range);
      find_groups();
    });
  }

  const Groups& groups() const override { return groups_; }

  void combine(const Step& step, std::span<const PlaneState> planes) override {
    for (const PlaneState& plane : planes) arena_.execute([&] { combine(step, plane); });
  }

 private:
  /// Computes the quantised guide, in which each element contains the samples of two rows.
  void pair_rows(PlaneView<const float> guide, const GuideRange& range) {
    const int radius = groups_.sizes().window / 2;
    const int columns = round_up(guide.width + radius + guide_padding, padding);
    if (quantised_.width() != guide.width || quantised_.height() != guide.height)
      quantised_ = Plane<std::uint8_t>(guide.width, guide.height);
    quantise(guide, range, quantised_.view());
    std::int32_t* const pairs =
        pairs_.reserve(static_cast<std::size_t>(columns) * (guide.height + 2 * radius));
    tbb::parallel_for(-radius, guide.height + radius, [&](int y) {
      std::int32_t* const row = pairs + static_cast<std::ptrdiff_t>(y + radius) * columns;
      std::fill_n(row, columns, outside | outside << 16);
      for (int x = 0; x < guide.width; ++x) {
        const auto at = [&](int v) -> int {
          return v < 0 || v >= guide.height ? outside : quantised_.view()(x, v);
        };
        row[radius + x] = at(y) | at(y + 1) << 16;
      }
    });
    paired_ = {pairs + static_cast<std::ptrdiff_t>(radius) * columns + radius, columns};
  }

  void find_groups() {
    const ReferenceGrid& grid = groups_.grid();
    const GroupSizes& sizes = groups_.sizes();
    // The last reference patch of a row may be off the grid, so the matcher processes it as a row
    // of its own.
    const int regular = grid.last_x / sizes.step + 1;
    const int per_row = (row_width - sizes.side) / sizes.step + 1;
    const int rows = (regular + per_row - 1) / per_row + (regular < grid.count_x ? 1 : 0);
    tbb::parallel_for(0, grid.count_y * rows, [&](int task) {
      const int j = task / rows, i = std::min(task % rows * per_row, regular);
      const int count = i < regular ? std::min(per_row, regular - i) : 1;
      find_row({paired_, grid.x(i), grid.y(j), count, sizes}, i, j);
    });
  }

  void find_row(const ReferenceRow& row, int i, int j) {
    Buffer<std::uint32_t>& memory = keys_[thread()];
    const std::size_t stride = row.key_stride();
    std::uint32_t* const keys = memory.reserve(stride * (row.count + 1) + padding);
    candidate_keys(row, keys);
    std::uint32_t limit = no_key;
    for (int r = 0; r < row.count; ++r)
      groups_.set_count(i + r, j,
                        select_members(keys + r * stride, stride, groups_.space(i + r, j), limit,
                                       keys + row.count * stride));
  }

  void combine(const Step& step, const PlaneState& plane) {
    const int width = plane.y.width, height = plane.y.height;
    const bool has_z = !step.is_pilot && step.tau > 0;
    const PlaneStep of_plane{step,
                             {plane.x.data, plane.x.stride},
                             {plane.y.data, plane.y.stride},
                             {plane.z.data, plane.z.stride},
                             plane.noise,
                             groups_.sizes().side};
    const std::vector<Block> blocks = plan_blocks(groups_, width, height);
    sums_.clear(width, height);
    lull::cpu::run_in_order(
        blocks.size(), tiles_,
        [&](std::size_t b, Sums& tile) { combine_block(of_plane, blocks[b], has_z, tile); },
        [&](std::size_t b, const Sums& tile) { add_tile(blocks[b], tile, has_z, sums_); });
    divide(plane.x, sums_.x.data());
    if (has_z) divide(plane.z, sums_.z.data());
  }

  void combine_block(const PlaneStep& plane, const Block& block, bool has_z, Sums& tile) {
    tile.clear(block.width(), block.height());
    const std::ptrdiff_t origin = block.top * tile.stride + block.left;
    const TileSums sums{tile.x.data() - origin, has_z ? tile.z.data() - origin : nullptr,
                        tile.weights.data() - origin, tile.stride};
    std::array<Displacement, max_group> members;
    for (int j = block.j0; j < block.j1; ++j)
      for (int i = block.i0; i < block.i1; ++i) {
        const auto group = groups_.at(i, j);
        std::ranges::transform(group, members.begin(), [&](std::uint16_t index) {
          return displacement_of(index, groups_.sizes().window);
        });
        combine_group(plane, groups_.grid().x(i), groups_.grid().y(j),
                      {members.data(), group.size()}, workspaces_[thread()], sums);
      }
  }

  /// Divides the sum of estimates of each sample by the sum of the weights of all patches that
  /// contain the sample.
  void divide(PlaneView<float> to, const float* sums) {
    const int side = groups_.sizes().side;
    tbb::parallel_for(tbb::blocked_range<int>(0, to.height, 16), [&](const auto& rows) {
      std::vector<float> columns(to.width);
      for (int y = rows.begin(); y < rows.end(); ++y) {
        std::ranges::fill(columns, 0.0f);
        for (int v = std::max(y - side + 1, 0); v <= y; ++v)
          for (int x = 0; x < to.width; ++x)
            columns[x] += sums_.weights.data()[v * sums_.stride + x];
        for (int x = 0; x < to.width; ++x) {
          float weight = 0;
          for (int u = std::max(x - side + 1, 0); u <= x; ++u) weight += columns[u];
          to(x, y) = sums[y * sums_.stride + x] / weight;
        }
      }
    });
  }

  static int thread() { return tbb::this_task_arena::current_thread_index(); }

  int threads_;
  tbb::task_arena arena_;
  Groups groups_;
  Plane<std::uint8_t> quantised_;
  Buffer<std::int32_t> pairs_;
  PairedGuide paired_;
  std::vector<Workspace> workspaces_;        // one element for each thread
  std::vector<Buffer<std::uint32_t>> keys_;  // one element for each thread
  std::vector<Sums> tiles_;
  Sums sums_;  // sums of estimates of the complete picture
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(int threads) {
  return std::make_unique<CpuEngine>(threads);
}

}  // namespace lull::linear
