#pragma once
// Denoises at two scales, for noise that is coarser than patches. A filter of 8x8 patches can
// separate such noise from the picture only at half size (Lebrun, Colom, Morel 2015, "The noise
// clinic", doi:10.5201/ipol.2015.125).

// The lowest frequencies of the result come from the half-size result (Facciolo, Pierazzo, Morel
// 2017, "Conservative scale recomposition for multiscale denoising", doi:10.1137/17M1111826).

#include <array>
#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/frame_pool.h"
#include "core/plane.h"

namespace lull::pipeline {

/// Returns the format of frames of half the size. Their samples are floats on the 0..255 scale.
[[nodiscard]] FrameFormat half_format(const FrameFormat& frame);

/// Makes frames of half the size. Each sample of the result is the weighted mean of 4x4 samples of
/// the frame, with the weights [1 3 3 1] / 8 along both axes. Mirrored samples replace the samples
/// beyond the borders.
class Halving {
 public:
  explicit Halving(const FrameFormat& frame);
  /// Returns the frame at half size, with the properties of `frame` (FrameInfo) except its mask.
  /// The samples of `frame` must be in host memory.
  [[nodiscard]] Frame of(const Frame& frame);

 private:
  FramePool pool_;
  std::array<Plane<float>, 3> whole_, half_;
  std::vector<float> intermediate_;
};

/// Returns a denoiser of frames at two scales. The result is fine + E(G(coarse - D(fine))). D
/// halves the size, E doubles the size, and G is a low-pass filter. The lowest frequencies of all
/// planes come from the result at half size.
/// @param fine  session for `frame`; may return more bits than `results`
/// @param coarse  session for half_format(frame)
[[nodiscard]] std::unique_ptr<Denoiser> by_scales(const FrameFormat& frame,
                                                  std::unique_ptr<Denoiser> fine,
                                                  std::unique_ptr<Denoiser> coarse,
                                                  const ResultSamples& results = {});

}  // namespace lull::pipeline
