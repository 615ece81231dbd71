#pragma once
// What the cpu backend cuts a picture into, and where estimates are on their way back to it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bm3d/cpu/kernels.h"
#include "bm3d/phase_engine.h"

namespace lull::bm3d::cpu {

inline constexpr int max_planes = 3;

/// Blocks one below the other, as one large one.
struct Task {
  Block block;
};

/// A part of a picture.
struct Area {
  int left, top, right, bottom;
  int width() const { return right - left; }
  int height() const { return bottom - top; }
};

/// What a thread needs while it works on a block.
struct Workspace {
  Buffer<float> stack;
  std::vector<Group> groups;  // of a row of references
};

/// Estimates of one task for one frame, on their way to the picture: of the part that its groups
/// can reach.
struct TilePart {
  Area area{};
  std::ptrdiff_t stride = 0;
  std::array<Buffer<float>, max_planes> numerator, weights;
};
struct Tile {
  const Task* task = nullptr;
  std::array<TilePart, max_frames> frames;
};

/// A plane's sums. Groups leave their weight at the origins of patches only (aggregate.cpp).
class CpuSums : public PhaseSums {
 public:
  CpuSums(int width, int height)
      : width_(width),
        height_(height),
        // An odd number of cache lines a row: rows of a patch must not fall into the same set.
        stride_(round_up(width, 16) | 16) {
    numerator_.reserve(stride_ * height);
    std::fill_n(weights_.reserve(stride_ * (height + patch)), stride_ * (height + patch), 0.0f);
    for (int y = 0; y < height; ++y) clear_row(y);
  }

  PlaneView<float> numerator() { return {numerator_.data(), width_, height_, stride_}; }
  /// Has `patch` rows of zeros above.
  PlaneView<float> weights() {
    return {weights_.data() + patch * stride_, width_, height_, stride_};
  }
  void clear_row(int y) {
    std::fill_n(numerator().row(y), stride_, 0.0f);
    std::fill_n(weights().row(y), stride_, 0.0f);
  }

 private:
  int width_, height_;
  std::ptrdiff_t stride_;
  Buffer<float> numerator_, weights_;
};

inline CpuSums& cpu_sums(PhaseSums& sums) { return static_cast<CpuSums&>(sums); }

}  // namespace lull::bm3d::cpu
