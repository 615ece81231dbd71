#pragma once
// Denoises at two scales, for noise that is coarser than patches: a filter of 8x8 patches can
// separate such noise from the picture only at half size (Lebrun, Colom, Morel 2015, "The noise
// clinic", doi:10.5201/ipol.2015.125; Facciolo, Pierazzo, Morel 2017, "Conservative scale
// recomposition for multiscale denoising", doi:10.1137/17M1111826).

#include <array>
#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/frame_pool.h"
#include "core/plane.h"

namespace lull::pipeline {

/// Returns the format of frames of half the size: floats whose full scale is 255.
[[nodiscard]] FrameFormat half_format(const FrameFormat& frame);

/// Makes frames of half the size. A sample of the result is the weighted mean of the nearest 4x4
/// samples of the frame, with the weights [1 3 3 1] / 8 along both axes. Borders are mirrored.
class Halving {
 public:
  explicit Halving(const FrameFormat& frame);
  /// Returns the frame at half size, with its time and the additional data for sessions. The
  /// samples of `frame` must be in host memory.
  [[nodiscard]] Frame of(const Frame& frame);

 private:
  FramePool pool_;
  std::array<Plane<float>, 3> whole_, half_;
  std::vector<float> intermediate_;
};

/// Returns a denoiser of frames at two scales: `fine` filters the frame, and `coarse` the frame at
/// half size. The result is fine + E G (coarse - D fine), where D halves the size, E doubles it,
/// and G is a low-pass filter. Thus the lowest frequencies of all planes come from the result at
/// half size.
/// @param frame  format of the frames; `fine` is a session for this format, `coarse` a session for
///     half_format(frame)
/// @param results  samples of the results; the results of `fine` may have a higher bit depth
[[nodiscard]] std::unique_ptr<Denoiser> by_scales(const FrameFormat& frame,
                                                  std::unique_ptr<Denoiser> fine,
                                                  std::unique_ptr<Denoiser> coarse,
                                                  const ResultSamples& results = {});

}  // namespace lull::pipeline
