#pragma once
// Statistics of the residual, and a test of the residual against the expected noise.

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
  /// Mask of the part: 0 marks a sample that the statistics omit.
  PlaneView<const std::uint8_t> counts;
};

struct ResidualFindings {
  int pictures = 0;
  std::int64_t blocks = 0;  // number of blocks of 8x8 samples
  /// Root mean square of the residual: `rms` on the 0..255 scale, `level` in units of the expected
  /// noise level.
  double rms = 0, level = 0;
  /// Ratio of the residual in textured blocks to the residual in flat blocks. Both are root mean
  /// squares in units of the expected noise level. The tenth of the blocks with the largest
  /// gradients is textured, and the half with the smallest gradients is flat.
  double edges = 0;
  Autocorrelation correlation{};
  /// Maximum difference between the correlation of the residual in textured blocks and in flat
  /// blocks, over lags of up to 2 samples. A correlation is a covariance divided by the variance.
  double edge_correlation_excess = 0;
};

/// Accumulates the statistics of the residual over several parts of frames. A block of 8x8 samples
/// counts only if its samples are valid and not all equal. The results are deterministic.
class ResidualSums {
 public:
  void add(const ResidualPart& part);
  [[nodiscard]] ResidualFindings findings() const;

 private:
  int pictures_ = 0;
  std::int64_t blocks_ = 0, flat_ = 0, textured_ = 0;
  double squares_ = 0, relative_ = 0;  // sums of the mean values of blocks
  // Sums like `relative_`, but only over the flat or the textured blocks.
  double flat_relative_ = 0, textured_relative_ = 0;
  std::vector<double> products_, pairs_;  // sums, one for each lag
  struct Near {
    std::vector<double> products, pairs;  // the same sums over these blocks, only for short lags
  } flat_near_, textured_near_;
};

/// One criterion of the verdict: the measured value and the limit for noise.
struct ResidualReason {
  std::string question, measured, limit;
  bool passed = false;
};
struct ResidualVerdict {
  enum class Answer { yes, no, cannot_tell } answer = Answer::cannot_tell;
  std::string why;  // the reason if the verdict is cannot_tell
  std::vector<ResidualReason> reasons;
};

/// The origin of the noise model: stated by the user, found by estimation, or assumed because the
/// estimation is uncertain.
enum class NoiseOrigin { stated, found, assumed };

/// Returns whether the residual looks like noise (docs/reference/reports.md). The result is
/// `cannot_tell` for fewer than 100 blocks, and for a residual of 0. The result is also
/// `cannot_tell` if only the criterion for edges fails and the noise is not white, because such
/// noise can itself be stronger at edges.
[[nodiscard]] ResidualVerdict assess_residual(const ResidualFindings& findings,
                                              const PlaneNoise& expected, NoiseOrigin origin);

}  // namespace lull::tools
