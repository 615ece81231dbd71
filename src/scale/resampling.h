#pragma once
// Resampling of float planes: enlarging with Lanczos' kernel, reducing with the mean over the area
// that a sample covers. The centre of sample i is at i + site, in units of its plane's samples.
// `site` is 0.5 if a sample is at the centre of its area, and less if a chroma sample is to the
// left of the centre.

#include <vector>

#include "core/image.h"

namespace lull::scale {

/// Filter taps along one axis: output sample i is the sum over k < count of weights[i * count + k]
/// times input sample first[i] + k.
struct Taps {
  int count = 0;
  std::vector<int> first;
  std::vector<float> weights;
};

/// Returns the taps that enlarge `from` samples to `to` samples along an axis, from <= to. `ratio`:
/// the factor by which distances grow. Samples are mirrored at the borders.
[[nodiscard]] Taps enlarging_taps(int from, int to, double ratio, double site);
/// Returns the taps that reduce `to` samples to `from` samples along an axis. Each result is the
/// mean over an interval of `ratio` samples around its position.
[[nodiscard]] Taps reducing_taps(int from, int to, double ratio, double site);

/// Resamples each row with `taps`. The sizes of the planes must match the taps. The function uses
/// all cores of the caller's task arena.
void resample_rows(const Taps& taps, PlaneView<const float> from, PlaneView<float> to);
/// Selects whether a function replaces the values of its output or adds to them.
enum class Write { replace, accumulate };
void resample_columns(const Taps& taps, PlaneView<const float> from, PlaneView<float> to,
                      Write write = Write::replace);

}  // namespace lull::scale
