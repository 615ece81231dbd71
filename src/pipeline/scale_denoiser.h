#pragma once
// Noise that is coarser than patches: what a filter of 8x8 samples cannot tell from the picture, it
// can in one of half the size (Lebrun, Colom, Morel 2015, "The noise clinic",
// doi:10.5201/ipol.2015.125; Facciolo, Pierazzo, Morel 2017, "Conservative scale recomposition for
// multiscale denoising", doi:10.1137/17M1111826).

#include <array>
#include <memory>
#include <vector>

#include "core/denoiser.h"
#include "core/frame_pool.h"
#include "core/plane.h"

namespace lull::pipeline {

/// Frames of half the size: floats, 255 of which are the full scale of `frame`'s samples.
[[nodiscard]] FrameFormat half_format(const FrameFormat& frame);

/// Makes frames of half the size. Each sample is a weighted mean of 4x4, [1 3 3 1] / 8 along both
/// axes, around the middle of two by two; borders are mirrored.
class Halving {
 public:
  explicit Halving(const FrameFormat& frame);
  /// Times and what sessions have to know of a frame come along. Samples are in the host's memory.
  [[nodiscard]] Frame of(const Frame& frame);

 private:
  FramePool pool_;
  std::array<Plane<float>, 3> whole_, half_;
  std::vector<float> between_;
};

/// A denoiser of frames at two scales. With D for halving, E for enlarging and a low pass G, the
/// result is
///     fine + E G (coarse - D fine),
/// where `fine` filters the frame and `coarse` its half: the lowest frequencies of what is left
/// come from the half, all others from the frame itself. That is done for all planes.
/// @param frame  format of the frames; `fine` is opened with it, `coarse` with half_format(frame)
[[nodiscard]] std::unique_ptr<Denoiser> by_scales(const FrameFormat& frame,
                                                  std::unique_ptr<Denoiser> fine,
                                                  std::unique_ptr<Denoiser> coarse);

}  // namespace lull::pipeline
