#pragma once
// What a filter took away, measured: does it look like the noise that was to be taken away?

#include <cstdint>
#include <string>
#include <vector>

#include "core/image.h"
#include "noise/noise_model.h"

namespace lull::tools {

/// A part of a frame before and after, one plane, on the 0..255 scale.
struct ResidualPart {
  PlaneView<const float> before, after;
  /// Standard deviation of the noise that is expected in each sample, > 0.
  PlaneView<const float> level;
  /// 0: the sample does not count.
  PlaneView<const std::uint8_t> counts;
};

struct ResidualFindings {
  int pictures = 0;
  std::int64_t blocks = 0;  // of 8x8 samples
  /// Root mean square of what was taken away, and in units of what was expected.
  double rms = 0, level = 0;
  /// How much more was taken away where the result has the most structure (a tenth of the blocks,
  /// by the gradient) than in the calmer half of it, in units of what was expected there.
  double edges = 0;
  Autocorrelation correlation{};
  /// By how much neighbours, up to 2 samples apart, are more alike in those blocks than in the calm
  /// ones, in units of the variance.
  double edge_correlation_excess = 0;
};

/// Blocks of 8x8 samples count if all of their samples do and are not the same. Equal parts in
/// equal order give equal findings.
class ResidualSums {
 public:
  void add(const ResidualPart& part);
  [[nodiscard]] ResidualFindings findings() const;

 private:
  int pictures_ = 0;
  std::int64_t blocks_ = 0, flat_ = 0, textured_ = 0;
  double squares_ = 0, relative_ = 0;             // sums over blocks of their means
  double flat_relative_ = 0, textured_relative_ = 0;  // the same of those
  std::vector<double> products_, pairs_;          // by lag
  struct Near {
    std::vector<double> products, pairs;  // the same, of a part of the blocks, near lags alone
  } flat_near_, textured_near_;
};

/// One of the questions that decide: what was measured, what would be noise.
struct ResidualReason {
  std::string question, measured, limit;
  bool passed = false;
};
struct ResidualVerdict {
  enum class Answer { yes, no, cannot_tell } answer = Answer::cannot_tell;
  std::string why;  // where nobody can tell
  std::vector<ResidualReason> reasons;
};

/// Where the level of the noise, and that it is white, come from.
enum class NoiseOrigin { stated, found, assumed };

/// White noise, found or stated: what was taken away looks like it if
/// - no two samples are more alike than such noise lets expect, by 0.06 of its variance,
/// - edges do not show: at most 1.05 times as much was taken away there,
/// - no more was taken away than there is, at most 1.1 times the level; unless that was stated,
///   which says nothing of the input.
/// Noise that is not white, or that nobody knows: it looks like noise if neighbours at edges are
/// not more alike than elsewhere, by 0.12, and the other two hold. What cameras make of their noise
/// is stronger at edges itself: there nobody can tell. Less than 100 blocks do not tell. Measured:
/// docs/reference/reports.md.
[[nodiscard]] ResidualVerdict assess_residual(const ResidualFindings& findings, const PlaneNoise& expected,
                                    NoiseOrigin origin);

}  // namespace lull::tools
