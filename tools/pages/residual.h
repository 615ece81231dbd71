#pragma once
// Statistics of the residual (the part that a filter removed), and the test whether it looks like
// the expected noise.

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
  /// Root mean square of the residual: `rms` on the 0..255 scale, `level` relative to the expected
  /// noise.
  double rms = 0, level = 0;
  /// The root mean square of the residual, relative to the expected noise, in textured blocks
  /// divided by that in flat blocks. Textured blocks are the tenth of the blocks with the largest
  /// gradients in the result; flat blocks are the half with the smallest gradients.
  double edges = 0;
  Autocorrelation correlation{};
  /// The correlation of the residual between samples in textured blocks, minus that in flat blocks,
  /// in units of the variance: the maximum over all lags of at most 2 samples along x and y.
  double edge_correlation_excess = 0;
};

/// Accumulates the statistics of the residual over several parts of frames. The statistics include
/// a block of 8x8 samples if all of its samples are valid and not all of them are equal. The
/// results are deterministic.
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

/// The origin of the noise model: stated by the user, estimated by lull, or assumed by lull because
/// the estimation is uncertain.
enum class NoiseOrigin { stated, found, assumed };

/// Decides whether the residual looks like noise. For white noise that lull estimated or the user
/// stated, the residual must meet three criteria:
/// - Correlation: exceeds that of the expected noise by at most 0.06 of the variance, at every lag.
/// - Edges: the residual in textured blocks is at most 1.05 times as strong as in flat blocks.
/// - Level: at most 1.1 times the noise level. A level that the user stated is not tested, because
///   it does not depend on the input.
///
/// For other noise, and for assumed noise, the first criterion is that the correlation of
/// neighbours in textured blocks exceeds that in flat blocks by at most 0.12. The verdict is
/// cannot_tell for fewer than 100 blocks. It is also cannot_tell if noise that a camera has
/// processed fails only the criterion about edges, because such noise may be stronger at edges.
/// docs/reference/reports.md describes how the limits were measured.
[[nodiscard]] ResidualVerdict assess_residual(const ResidualFindings& findings,
                                              const PlaneNoise& expected, NoiseOrigin origin);

}  // namespace lull::tools
