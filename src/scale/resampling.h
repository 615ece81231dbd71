#pragma once
// Planes of float samples in another size: larger by Lanczos' kernel, smaller by the mean over the
// area that a sample stands for. Samples lie where their planes have them: the centre of sample i
// is at i + site in units of its plane's samples, 0.5 where a sample lies in the middle of its
// area, less where chroma lies to the left of it.

#include <vector>

#include "core/image.h"

namespace lull::scale {

/// Of one axis: output i is the sum over k < count of weights[i * count + k] times input
/// first[i] + k.
struct Taps {
  int count = 0;
  std::vector<int> first;
  std::vector<float> weights;
};

/// Along an axis of `from` samples to `to`, from <= to. `ratio`: how many times longer a distance
/// is behind it. Beyond the ends samples are mirrored.
[[nodiscard]] Taps enlarging_taps(int from, int to, double ratio, double site);
/// The way back, from `to` samples to `from`: each is the mean over `ratio` samples around its
/// place.
[[nodiscard]] Taps reducing_taps(int from, int to, double ratio, double site);

/// Each row by the taps of x. Sizes are those of the taps; all cores of the caller's arena work.
void resample_rows(const Taps& taps, PlaneView<const float> from, PlaneView<float> to);
/// Each column by the taps of y.
enum class Into { fresh, sum };  // what is there does not count, or is added to
void resample_columns(const Taps& taps, PlaneView<const float> from, PlaneView<float> to,
                      Into into = Into::fresh);

}  // namespace lull::scale
