#pragma once
// Resamples planes of floats, with the Lanczos kernel for enlargement and area means for reduction.
// `site` states where samples are: the centre of sample i is at i + `site`. A `site` of 0.5 is the
// middle between i and i + 1.

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

/// Returns the taps that enlarge an axis from `from` to `to` samples, with mirrored samples beyond
/// the borders.
/// @param ratio  number of output samples per input sample. In chroma planes, `ratio` can differ
///     from `to` / `from`, because subsampling rounds the sizes of these planes.
/// @param site  position of the centre of sample 0 (see above)
[[nodiscard]] Taps enlarging_taps(int from, int to, double ratio, double site);
/// Returns the taps that reduce an axis from `to` to `from` samples: the reverse of
/// enlarging_taps() with the same arguments. Each output sample is the mean of an interval of
/// `ratio` input samples.
[[nodiscard]] Taps reducing_taps(int from, int to, double ratio, double site);

/// Resamples each row, in parallel in the task arena of the caller.
void resample_rows(const Taps& taps, PlaneView<const float> from, PlaneView<float> to);
/// States whether resample_columns() replaces the samples of its output or adds to them.
enum class Write { replace, accumulate };
void resample_columns(const Taps& taps, PlaneView<const float> from, PlaneView<float> to,
                      Write write = Write::replace);

}  // namespace lull::scale
