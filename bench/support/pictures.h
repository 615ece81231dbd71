#pragma once
// The pictures that the programs of this folder measure on, and what came of them.

#include <memory_resource>
#include <string>
#include <vector>

#include "bench/support/gaussian.h"
#include "core/frame.h"
#include "core/frame_pool.h"

namespace lull::bench {

struct Size {
  int width = 0, height = 0;  // samples
};
/// "1920x1080". @throws InvalidArgument
[[nodiscard]] Size parse_size(const std::string& text);

/// Size and planes to measure with; of a size of 0x0 those of the picture itself.
struct Shape {
  Size size;
  std::string layout;  // "gray", "420"; empty: the picture's own
};
/// A picture's own format where `shape` leaves it open. @throws InvalidArgument
[[nodiscard]] FrameFormat format_of(const Shape& shape, const FrameFormat& own);
/// "1920x1080 gray"
[[nodiscard]] std::string describe_shape(const FrameFormat& format);

/// A picture with noise, and the same without.
struct PicturePair {
  Frame noisy, clean;  // `clean` has no pixels if it is not known
};

/// The first frames of two files; without names the still of LULL_TEST_DATA (bench/kodak1080_*.png,
/// sigma 20), and where that is not set 1920x1080 grey samples of waves and edges, with Gaussian
/// noise of sigma 20. `memory` holds the samples.
[[nodiscard]] PicturePair load_pair(const std::string& noisy, const std::string& clean,
                                    std::pmr::memory_resource* memory);

/// A frame of `format` made of the picture's first plane, which is mirrored at its borders as often
/// as needed; further planes show other parts of it. `shift` moves all, in samples: frames that
/// differ. The picture itself if it has the format and `shift` is 0.
[[nodiscard]] Frame reshape(const Frame& picture, const FrameFormat& format, int shift,
                            std::pmr::memory_resource* memory);

/// White Gaussian noise is added in floating point to every plane, then rounded and clipped to the
/// integer samples' depth, as a camera's converter would. `sigma`: on the 0..255 scale.
[[nodiscard]] Frame add_noise(const Frame& clean, double sigma, Gaussian& gaussian,
                              FramePool& pool);

/// A picture to measure with: as it came, or for `squares` > 0 the clean one with white noise that
/// was averaged over squares of so many samples a side, of standard deviation `sigma` on the 0..255
/// scale; rounded and clipped. @throws InvalidArgument where there is no clean one
[[nodiscard]] Frame with_noise(const PicturePair& pair, double sigma, int squares,
                               std::pmr::memory_resource* memory);

/// PSNR in dB of planes `first` to `last`, together. @throws InvalidArgument on unequal formats
[[nodiscard]] double psnr(const Frame& a, const Frame& b, int first = 0, int last = 0);

}  // namespace lull::bench
