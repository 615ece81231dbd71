#pragma once
// Resampling of float planes. Enlarging uses the Lanczos kernel, and reducing uses the mean over
// the area that a sample covers. In units of the samples of a plane, the centre of sample i is at i
// + `site`. The value of `site` is 0.5 if a sample is at the centre of its area, and less if a
// chroma sample is to the left of the centre.

#include <vector>

#include "core/image.h"

namespace lull::scale {

/// Filter taps along one axis. Output sample i is the sum of the products weights[i * count + k] *
/// input[first[i] + k] over k < count.
struct Taps {
  int count = 0;
  std::vector<int> first;
  std::vector<float> weights;
};

/// Returns the taps that enlarge `from` samples to `to` samples along an axis, where from <= to.
/// `ratio` is the enlargement of distances. At the borders, samples are mirrored.
[[nodiscard]] Taps enlarging_taps(int from, int to, double ratio, double site);
/// Returns the taps that reduce `to` samples to `from` samples along an axis. Each result is the
/// mean over an interval of `ratio` samples, centred at the position of the result.
[[nodiscard]] Taps reducing_taps(int from, int to, double ratio, double site);

/// Resamples each row with `taps`. The sizes of the planes must correspond to the taps. The
/// function uses all cores of the caller's task arena.
void resample_rows(const Taps& taps, PlaneView<const float> from, PlaneView<float> to);
/// Selects whether a function replaces the values of its output or adds to them.
enum class Write { replace, accumulate };
void resample_columns(const Taps& taps, PlaneView<const float> from, PlaneView<float> to,
                      Write write = Write::replace);

}  // namespace lull::scale
