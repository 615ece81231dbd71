#pragma once
// Estimates the noise of pictures and clips from their samples alone, on the host. Equal frames
// give equal results on every machine and for every number of threads.

#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/frame.h"
#include "noise/noise_model.h"

namespace lull {

/// Consecutive frames of an input. If there are several frames, the estimator measures their noise
/// in the differences between frames. If there is a single frame, the estimator treats it as a
/// still picture. All excerpts have one format, and their samples are in host memory.
using Excerpt = std::vector<Frame>;

/// Standard deviation of a plane's noise in areas where the mean of the first plane is `luma`. The
/// standard deviation and `luma` are on the 0..255 scale.
struct LevelAtLuma {
  float luma = 0, level = 0;
};

struct NoiseEstimate {
  /// The noise that filters remove at strength 1. For RGB, the noise model describes the planes in
  /// the opponent space. A sigma of 0 means that there is no noticeable noise.
  NoiseModel noise;
  /// Standard deviation of the noise in the samples of each stored plane, on the 0..255 scale.
  std::array<float, 3> level{};
  /// Standard deviation of the noise in means of 8x8 samples of the first plane (for RGB: of Y), on
  /// the 0..255 scale. For white noise, the value is an eighth of `level`.
  float coarse = 0;
  /// If false, the result is uncertain, because texture and noise look alike in the frames. `noise`
  /// then has a low level that is safe for texture, and `why` states the observation in a few
  /// words.
  bool certain = true;
  std::string why;
  /// Share of noise in the energy of flat blocks, 0..1. The rest is texture. A low share means that
  /// a still picture has hardly a block without texture, so the estimate is less reliable. For
  /// clips, the share is 1.
  float confidence = 1;
  /// For clips, the noise level of the first plane in each excerpt, in the order of the excerpts.
  /// 0: no estimate for this excerpt. Empty if an excerpt has no frame, and for single pictures.
  std::vector<float> excerpt_level{};
  /// For clips, the noise levels of the stored samples of each plane as a function of luma, in the
  /// order of increasing luma. A luma that does not occur in the frames has no element.
  std::array<std::vector<LevelAtLuma>, 3> by_luma{};
  /// True for clips with large dark areas (lit_areas.h). `noise` and `level` then describe the
  /// noise outside the dark areas if the noise is stronger there.
  bool has_dark_areas = false;
  /// For clips, the noise level of the first plane in all areas, divided by `level`. Below 1 if
  /// `level` is the noise level outside dark areas.
  float share_in_all_areas = 1;
  /// Standard deviation of the coding error (codec_error.h), on the 0..255 scale. `noise` is the
  /// sum of the measured noise and the coding error. Noise files do not store `codec_error`.
  std::array<float, 3> codec_error{};
};

/// Estimates the noise of the excerpts of one input.
/// @throws InvalidArgument  there is no frame, the frames have different formats, or a frame is in
/// device memory
[[nodiscard]] NoiseEstimate estimate_noise(std::span<const Excerpt> excerpts);

}  // namespace lull
