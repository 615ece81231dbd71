#pragma once
// Tasks, tiles and aggregation sums. A task is a part of the reference patches, which one thread
// processes. A tile is a buffer in which this thread sums the estimates of its task.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bm3d/cpu/kernels.h"
#include "bm3d/cpu/weight_sums.h"
#include "bm3d/phase_engine.h"
#include "match/cpu/threads.h"

namespace lull::bm3d::cpu {

inline constexpr int max_planes = 3;

/// Vertically adjacent blocks, which a thread processes together.
struct Task {
  Block block;
};

/// A rectangle of the picture; `right` and `bottom` are exclusive.
struct Area {
  int left, top, right, bottom;
  int width() const { return right - left; }
  int height() const { return bottom - top; }
};

/// Memory that a thread uses while it processes a block.
struct Workspace {
  Buffer<float> stack;
  std::vector<Group> groups;  // groups of one row of reference patches
};

/// The estimates of one task in one frame. The tile is the bounding box of the patches of all its
/// groups.
struct TilePart {
  Area area{};
  std::ptrdiff_t stride = 0;
  std::array<Buffer<float>, max_planes> numerator, weights;
  std::array<Buffer<float>, max_planes> noisy;  // samples of this area, loaded from the frame
};
struct Tile {
  const Task* task = nullptr;
  std::array<TilePart, max_frames> frames;
};

/// Aggregation sums of a plane. The filter adds group weights only at the top-left sample of each
/// patch (aggregate.cpp).
class CpuSums : public PhaseSums {
 public:
  CpuSums(int width, int height, const std::shared_ptr<WeightMemory>& memory)
      : width_(width),
        height_(height),
        // The stride is an odd number of cache lines, so that the rows of a patch map to different
        // cache sets.
        stride_(round_up(width, 16) | 16),
        weights_(width, height, stride_, memory) {
    numerator_.reserve(stride_ * height);
    for (int y = 0; y < height; ++y) clear_numerator(y);
  }

  PlaneView<float> numerator() { return {numerator_.data(), width_, height_, stride_}; }
  void clear_numerator(int y) { std::fill_n(numerator().row(y), stride_, 0.0f); }
  WeightSums& weights() { return weights_; }

 private:
  int width_, height_;
  std::ptrdiff_t stride_;
  Buffer<float> numerator_;
  WeightSums weights_;
};

inline CpuSums& cpu_sums(PhaseSums& sums) { return static_cast<CpuSums&>(sums); }

/// Adds the estimates of the tile to the sums of the frames.
inline void add_tile(Tile& tile, const PhaseInput& input) {
  for (std::size_t f = 0; f < input.frames.size(); ++f) {
    TilePart& from = tile.frames[f];
    const Area& area = from.area;
    const auto part = [&](PlaneView<float> whole) {
      return PlaneView<float>{whole.row(area.top) + area.left, area.width(), area.height(),
                              whole.stride};
    };
    const auto rows_of = [&](Buffer<float>& memory) {
      return PlaneView<float>{memory.data(), area.width(), area.height(), from.stride};
    };
    for (std::size_t p = 0; p < input.planes(); ++p) {
      CpuSums& sums = cpu_sums(*input.frames[f].frame.sums[p]);
      add_rows(rows_of(from.numerator[p]), part(sums.numerator()));
      sums.weights().add(rows_of(from.weights[p]), area.left, area.top);
    }
  }
}

/// Calls work(tile) for each task, in parallel, and add(tile) for each completed task, serially and
/// in order.
template <class Work, class Add>
void run_in_order(const std::vector<Task>& tasks, std::vector<Tile>& tiles, const Work& work,
                  const Add& add) {
  lull::cpu::run_in_order(
      tasks.size(), tiles,
      [&](std::size_t task, Tile& tile) {
        tile.task = &tasks[task];
        work(tile);
      },
      [&](std::size_t, Tile& tile) { add(tile); });
}

}  // namespace lull::bm3d::cpu
