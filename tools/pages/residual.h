#pragma once
// Statistics of the residual, which is the part that a filter removed, and the test whether the
// residual looks like the expected noise.

#include <cstdint>
#include <string>
#include <vector>

#include "core/image.h"
#include "noise/noise_model.h"

namespace lull::tools {

/// A part of one plane before and after filtering, on the 0..255 scale.
struct ResidualPart {
  PlaneView<const float> before, after;
  /// Expected standard deviation of the noise in each sample, above 0.
  PlaneView<const float> level;
  /// For each sample, 0 if the statistics do not include the sample.
  PlaneView<const std::uint8_t> counts;
};

struct ResidualFindings {
  int pictures = 0;
  std::int64_t blocks = 0;  // number of blocks of 8x8 samples
  /// Root mean square of the residual. `rms` is on the 0..255 scale, and `level` is relative to the
  /// expected noise.
  double rms = 0, level = 0;
  /// The strength of the residual in textured blocks, divided by its strength in flat blocks. The
  /// strength is the root mean square of the residual, relative to the expected noise. Textured
  /// blocks are the tenth of the blocks with the largest gradients in the result; flat blocks are
  /// the half of the blocks with the smallest gradients.
  double edges = 0;
  Autocorrelation correlation{};
  /// The correlation of the residual between samples in textured blocks, minus this correlation in
  /// flat blocks, in units of the variance. The value is the maximum over all lags of at most 2
  /// samples along x and y.
  double edge_correlation_excess = 0;
};

/// Accumulates the statistics of the residual over several parts of frames. The statistics include
/// a block of 8x8 samples if all of its samples are valid and not all of them are equal. The
/// results are deterministic: the same parts in the same order give the same values.
class ResidualSums {
 public:
  void add(const ResidualPart& part);
  [[nodiscard]] ResidualFindings findings() const;

 private:
  int pictures_ = 0;
  std::int64_t blocks_ = 0, flat_ = 0, textured_ = 0;
  double squares_ = 0, relative_ = 0;  // sums of the mean values of blocks
  // Sums like `relative_`, but only over the flat blocks, or only over the textured blocks.
  double flat_relative_ = 0, textured_relative_ = 0;
  std::vector<double> products_, pairs_;  // sums, one for each lag
  struct Near {
    std::vector<double> products, pairs;  // the same sums over these blocks, only for short lags
  } flat_near_, textured_near_;
};

/// One criterion of the verdict, with the measured value and the limit for noise.
struct ResidualReason {
  std::string question, measured, limit;
  bool passed = false;
};
struct ResidualVerdict {
  enum class Answer { yes, no, cannot_tell } answer = Answer::cannot_tell;
  std::string why;  // the reason if the verdict is cannot_tell
  std::vector<ResidualReason> reasons;
};

/// The origin of the noise model. The user gave the noise, or lull estimated it, or lull assumed it
/// because the estimate is uncertain.
enum class NoiseOrigin { stated, found, assumed };

/// Decides whether the residual looks like noise. For white noise that lull estimated or the user
/// gave, the residual must meet three criteria:
/// - The correlation of the residual exceeds the correlation of the expected noise by at most 0.06
/// of
///   the variance, at every lag.
/// - Edges are not visible in the residual: the residual in textured blocks is at most 1.05 times
/// as
///   strong as the residual in flat blocks.
/// - The residual is at most 1.1 times as strong as the noise level. This criterion is omitted if
/// the
///   user gave the level, because such a level is independent of the input.
///
/// For other noise, and for assumed noise, another criterion replaces the first criterion: the
/// correlation of neighbours in textured blocks exceeds the correlation of neighbours in flat
/// blocks by at most 0.12. Noise that a camera has processed may be stronger at edges than in flat
/// areas. For such noise, the verdict is cannot_tell if the residual fails only the criterion about
/// edges. The verdict is also cannot_tell for fewer than 100 blocks. docs/reference/reports.md
/// describes how the limits were measured.
[[nodiscard]] ResidualVerdict assess_residual(const ResidualFindings& findings,
                                              const PlaneNoise& expected, NoiseOrigin origin);

}  // namespace lull::tools
