#pragma once
// Resampling of float planes: enlarges with the Lanczos kernel, and reduces with the mean over the
// area of a sample. The centre of sample i is at i + `site`, in samples of a plane: `site` is 0.5
// for a sample at the centre of its area, and less for a chroma sample to the left of it.

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

/// Returns the taps that enlarge an axis, with mirrored borders. The axis has `from` samples before
/// and `to` samples after the enlargement (from <= to). `ratio` is the enlargement of distances.
[[nodiscard]] Taps enlarging_taps(int from, int to, double ratio, double site);
/// Returns the taps that reduce an axis of `to` samples to `from` samples. Each result is the mean
/// over an interval of `ratio` samples around its position.
[[nodiscard]] Taps reducing_taps(int from, int to, double ratio, double site);

/// Resamples each row with `taps`, to which the sizes of the planes must correspond. The function
/// uses all cores of the caller's task arena.
void resample_rows(const Taps& taps, PlaneView<const float> from, PlaneView<float> to);
/// Selects whether a function replaces the values of its output or adds to them.
enum class Write { replace, accumulate };
void resample_columns(const Taps& taps, PlaneView<const float> from, PlaneView<float> to,
                      Write write = Write::replace);

}  // namespace lull::scale
