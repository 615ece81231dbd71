#pragma once
// What is measured of the grain of a scene: sums over the flat parts of its frames, of what
// denoising took away there.

#include <array>
#include <cstdint>
#include <vector>

#include "core/frame.h"
#include "noise/grain/grain_table.h"

namespace lull {

/// Samples are integers here, in sixteenths of a step of 8 bits: 12 bits are as they are.
inline constexpr int grain_unit = 16;

/// Pairs of samples (dx, dy) apart: those that the normal equations of a filter of lag 3 ask for.
inline constexpr int pair_reach = 2 * grain_lag;
inline constexpr int pair_lags = (grain_lag + 1) * (2 * pair_reach + 1);
/// The same for (dx, dy) and (-dx, -dy); |dx| <= 6, |dy| <= 3.
constexpr int pair_index(int dx, int dy) {
  if (dy < 0 || (dy == 0 && dx < 0)) dx = -dx, dy = -dy;
  return dy * (2 * pair_reach + 1) + dx + pair_reach;
}

class GrainStatistics {
 public:
  static constexpr int bins = 32;    // of luma, 8 steps of 8 bits each
  static constexpr int classes = 8;  // of blocks by their mean luma
  static constexpr int side = 16;    // of a block, luma samples; less in frames that are smaller

  struct Bin {
    std::int64_t count = 0, sum = 0, squares = 0;  // of what was taken away
  };
  /// Sums of products over the blocks of a class. A block has (w - |dx|) (h - |dy|) pairs.
  struct Products {
    std::array<std::int64_t, pair_lags> pairs{};
    // Of Cb and Cr, with luma where it is (the mean of the samples there):
    std::array<std::int64_t, grain_taps> taps_with_luma{};
    std::int64_t with_luma = 0, luma_squares = 0;
  };
  struct PlaneSums {
    std::array<Bin, GrainStatistics::bins> by_luma{};
    std::array<Products, GrainStatistics::classes> products{};
  };

  GrainStatistics() = default;
  explicit GrainStatistics(const FrameFormat& format);
  /// Adds the flat blocks of a frame; both have the format and lie in the host's memory.
  void add(const Frame& noisy, const Frame& denoised);
  GrainStatistics& operator+=(const GrainStatistics& other);

  const FrameFormat& format() const { return format_; }
  const PlaneSums& plane(int i) const { return planes_[i]; }
  const std::array<std::int64_t, classes>& blocks() const { return blocks_; }
  int block_width(int plane) const;
  int block_height(int plane) const;

 private:
  FrameFormat format_;
  std::array<PlaneSums, 3> planes_{};
  std::array<std::int64_t, classes> blocks_{};
};

}  // namespace lull
