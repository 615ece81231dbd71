#pragma once
// Resamples planes of floats, with the Lanczos kernel for enlargement and area means for reduction.
// The centre of sample i is at i + `site`, where 0.5 stands for centred samples.

#include <vector>

#include "core/image.h"

namespace lull::scale {

/// Filter taps along one axis. Output sample i is the sum of weights[i * count + k] *
/// input[first[i] + k] over k < count.
struct Taps {
  int count = 0;
  std::vector<int> first;
  std::vector<float> weights;
};

/// Returns the taps that enlarge an axis. `from` is the number of input samples, and `to` is the
/// number of output samples. Beyond the borders, the taps use mirrored samples. `ratio` is the
/// distance of two adjacent input samples, in output samples. In chroma planes, `ratio` can differ
/// from `to` / `from`, because subsampling rounds the sizes of chroma planes.
[[nodiscard]] Taps enlarging_taps(int from, int to, double ratio, double site);
/// Returns the taps that reduce an axis from `to` to `from` samples: the reverse of
/// enlarging_taps() with the same arguments. Each output sample is the mean over `ratio` input
/// samples.
[[nodiscard]] Taps reducing_taps(int from, int to, double ratio, double site);

/// Resamples each row, in parallel in the task arena of the caller.
void resample_rows(const Taps& taps, PlaneView<const float> from, PlaneView<float> to);
/// States whether resample_columns() replaces the samples of its output or adds to them.
enum class Write { replace, accumulate };
void resample_columns(const Taps& taps, PlaneView<const float> from, PlaneView<float> to,
                      Write write = Write::replace);

}  // namespace lull::scale
