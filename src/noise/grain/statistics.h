#pragma once
// Statistics of the grain of a scene: sums of the removed noise over the flat areas of its frames.

#include <array>
#include <cstdint>
#include <vector>

#include "core/frame.h"
#include "noise/grain/grain_table.h"

namespace lull {

/// Number of steps of 12-bit samples in one step of 8-bit samples. The unit of the statistics is a
/// step of 12-bit samples.
inline constexpr int grain_unit = 16;

/// Maximum horizontal lag between two samples in the normal equations of a grain filter, whose
/// support extends `grain_lag` (3) samples to each side.
inline constexpr int pair_reach = 2 * grain_lag;
inline constexpr int pair_lags = (grain_lag + 1) * (2 * pair_reach + 1);
/// Returns the index of a lag with |dx| <= 6 and |dy| <= 3. (dx, dy) and (-dx, -dy) have the same
/// index.
constexpr int pair_index(int dx, int dy) {
  if (dy < 0 || (dy == 0 && dx < 0)) dx = -dx, dy = -dy;
  return dy * (2 * pair_reach + 1) + dx + pair_reach;
}

class GrainStatistics {
 public:
  static constexpr int bins = 32;    // bins of luma, each 8 steps of 8 bits wide
  static constexpr int classes = 8;  // classes of blocks with similar mean luma
  static constexpr int side = 16;    // side of a block in luma samples; smaller in small frames

  struct Bin {
    std::int64_t count = 0, sum = 0, squares = 0;  // sums over the removed noise
  };
  /// Sums over all blocks of one class of brightness. An element of `pairs` sums the products of
  /// two samples of the removed noise, over all pairs of samples with one lag (dx, dy). A block of
  /// w x h samples has (w - |dx|) * (h - |dy|) such pairs.
  struct Products {
    std::array<std::int64_t, pair_lags> pairs{};
    // Sums of products with two factors: a sample of Cb or Cr, and the mean of the luma samples at
    // the position of this sample.
    std::array<std::int64_t, grain_taps> taps_with_luma{};
    std::int64_t with_luma = 0, luma_squares = 0;
  };
  struct PlaneSums {
    std::array<Bin, GrainStatistics::bins> by_luma{};
    std::array<Products, GrainStatistics::classes> products{};
  };

  GrainStatistics() = default;
  explicit GrainStatistics(const FrameFormat& format);
  /// Adds the flat blocks of a frame to the statistics. `noisy` and `denoised` must be in host
  /// memory, and have the format of the object.
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
