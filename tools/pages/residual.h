#pragma once
// Statistics of the residual, which is the part that a filter removed, and the test whether the
// residual looks like the expected noise.

#include <cstdint>
#include <string>
#include <vector>

#include "core/image.h"
#include "noise/noise_model.h"

namespace lull::tools {

/// The same part of one plane, before and after filtering, on the 0..255 scale.
struct ResidualPart {
  PlaneView<const float> before, after;
  /// Expected standard deviation of the noise in each sample, above 0.
  PlaneView<const float> level;
  /// For each sample, 0 if the sample is not used.
  PlaneView<const std::uint8_t> counts;
};

struct ResidualFindings {
  int pictures = 0;
  std::int64_t blocks = 0;  // number of blocks of 8x8 samples
  /// Root mean square of the residual: first on the 0..255 scale, then relative to the expected
  /// noise.
  double rms = 0, level = 0;
  /// Ratio of the residual in textured blocks to the residual in flat blocks, each relative to the
  /// expected noise in these blocks. Textured blocks are the tenth of the blocks with the largest
  /// gradients in the result; flat blocks are the half with the smallest gradients.
  double edges = 0;
  Autocorrelation correlation{};
  /// How much higher the correlation of neighbours (up to 2 samples apart) is in the textured
  /// blocks than in the flat ones, in units of the variance.
  double edge_correlation_excess = 0;
};

/// Accumulates the statistics of the residual over several parts of frames. A block of 8x8 samples
/// is used if all of its samples are valid and not all of them are equal. The results are
/// deterministic: the same parts in the same order give the same values.
class ResidualSums {
 public:
  void add(const ResidualPart& part);
  [[nodiscard]] ResidualFindings findings() const;

 private:
  int pictures_ = 0;
  std::int64_t blocks_ = 0, flat_ = 0, textured_ = 0;
  double squares_ = 0, relative_ = 0;  // sums of the mean values of blocks
  // Sums of the values of `relative_`, over the flat blocks and over the textured blocks.
  double flat_relative_ = 0, textured_relative_ = 0;
  std::vector<double> products_, pairs_;  // sums, one for each lag
  struct Near {
    std::vector<double> products, pairs;  // the same sums over these blocks, only for short lags
  } flat_near_, textured_near_;
};

/// One criterion of the verdict: the measured value, and the limit for noise.
struct ResidualReason {
  std::string question, measured, limit;
  bool passed = false;
};
struct ResidualVerdict {
  enum class Answer { yes, no, cannot_tell } answer = Answer::cannot_tell;
  std::string why;  // the reason if the verdict is cannot_tell
  std::vector<ResidualReason> reasons;
};

/// The origin of the noise model: the user gave the noise, lull estimated it, or lull assumed it,
/// because the estimate is uncertain.
enum class NoiseOrigin { stated, found, assumed };

/// Decides whether the residual looks like noise. The criteria for white noise that was estimated
/// or given are:
/// - No correlation exceeds that of the expected noise by more than 0.06 of the variance.
/// - Edges are not visible in the residual: the residual at edges is at most 1.05 times as strong
///   as elsewhere.
/// - The residual is at most 1.1 times as strong as the noise level. This is not tested if the user
///   gave the level, because such a level is independent of the input.
/// For other noise, and for assumed noise, the first criterion is replaced: the correlation of
/// neighbours at edges must not exceed that elsewhere by more than 0.12. Noise that a camera has
/// processed may itself be stronger at edges. So for such noise, if only the criterion about
/// visible edges fails, the verdict is cannot_tell. The verdict is also cannot_tell for fewer than
/// 100 blocks. docs/reference/reports.md describes how the limits were measured.
[[nodiscard]] ResidualVerdict assess_residual(const ResidualFindings& findings,
                                              const PlaneNoise& expected, NoiseOrigin origin);

}  // namespace lull::tools
