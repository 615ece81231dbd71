#pragma once
// Resamples planes of floats: enlarges with the Lanczos kernel, and reduces with the mean over the
// area of a sample. The centre of sample i is at i + `site`. For a centred sample, `site` is 0.5.
// For a chroma sample to the left of the centre, `site` is smaller.

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

/// Returns the taps that enlarge an axis from `from` to `to` samples (from <= to), with mirrored
/// borders. `ratio` is the ratio of distances after and before the enlargement.
[[nodiscard]] Taps enlarging_taps(int from, int to, double ratio, double site);
/// Returns the taps that reduce an axis of `to` samples to `from` samples. Each result is the mean
/// over an interval of `ratio` samples around its position.
[[nodiscard]] Taps reducing_taps(int from, int to, double ratio, double site);

/// Resamples each row with `taps`. The sizes of the planes must correspond to the taps. The
/// function uses all cores of the caller's task arena.
void resample_rows(const Taps& taps, PlaneView<const float> from, PlaneView<float> to);
/// Selects whether a function replaces the values of its output or adds to them.
enum class Write { replace, accumulate };
void resample_columns(const Taps& taps, PlaneView<const float> from, PlaneView<float> to,
                      Write write = Write::replace);

}  // namespace lull::scale
