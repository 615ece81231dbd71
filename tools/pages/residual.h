#pragma once
// Computes statistics of the residual (the part that a filter has removed), and tests whether the
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
  /// Mask of the part: 0 marks a sample that the statistics do not include.
  PlaneView<const std::uint8_t> counts;
};

struct ResidualFindings {
  int pictures = 0;
  std::int64_t blocks = 0;  // number of blocks of 8x8 samples
  /// Root mean square of the residual: `rms` on the 0..255 scale, `level` relative to the expected
  /// noise.
  double rms = 0, level = 0;
  /// Ratio of the residual in textured blocks to the residual in flat blocks. Each residual is a
  /// root mean square, relative to the expected noise. Textured blocks are the tenth of the blocks
  /// with the largest gradients in the result. Flat blocks are the half with the smallest
  /// gradients.
  double edges = 0;
  Autocorrelation correlation{};
  /// Correlation of the residual in textured blocks minus the correlation in flat blocks, in units
  /// of the variance. The value is the maximum over all lags of at most 2 samples along x and y.
  double edge_correlation_excess = 0;
};

/// Accumulates the statistics of the residual over several parts of frames. The statistics include
/// a block of 8x8 samples if all samples of the block are valid, and at least two samples differ.
/// The results are deterministic.
class ResidualSums {
 public:
  void add(const ResidualPart& part);
  [[nodiscard]] ResidualFindings findings() const;

 private:
  int pictures_ = 0;
  std::int64_t blocks_ = 0, flat_ = 0, textured_ = 0;
  double squares_ = 0, relative_ = 0;  // sums of the mean values of blocks
  // Sums for the flat blocks, and sums for the textured blocks. The member `relative_` contains the
  // sums for all blocks.
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

/// The origin of the noise model. stated: the user specifies the noise. found: lull estimates the
/// noise. assumed: lull assumes the noise, because the estimation is uncertain.
enum class NoiseOrigin { stated, found, assumed };

/// Returns whether the residual looks like noise. docs/reference/reports.md describes the criteria
/// and their limits. The verdict is `cannot_tell` for fewer than 100 blocks. For noise that a
/// camera has processed, the verdict is also `cannot_tell` if only the criterion for edges fails,
/// because such noise may be stronger at edges.
[[nodiscard]] ResidualVerdict assess_residual(const ResidualFindings& findings,
                                              const PlaneNoise& expected, NoiseOrigin origin);

}  // namespace lull::tools
