#pragma once
// Pictures for the benchmark programs, and comparison of results.

#include <memory_resource>
#include <string>
#include <vector>

#include "bench/support/gaussian.h"
#include "core/frame.h"
#include "core/frame_pool.h"

namespace lull::bench {

struct Size {
  int width = 0, height = 0;  // in samples
};
/// Parses "1920x1080".
/// @throws InvalidArgument
[[nodiscard]] Size parse_size(const std::string& text);

/// Size and layout of the frames to measure; a size of 0x0 is that of the picture.
struct Shape {
  Size size;
  std::string layout;  // "gray", "420"; empty: the layout of the picture
};
/// Returns the frame format; values that `shape` does not specify are taken from the picture's
/// format `own`.
/// @throws InvalidArgument
[[nodiscard]] FrameFormat format_of(const Shape& shape, const FrameFormat& own);
/// Returns a description of a format, such as "1920x1080 gray".
[[nodiscard]] std::string describe_shape(const FrameFormat& format);

/// A noisy picture and its clean version.
struct PicturePair {
  Frame noisy, clean;  // `clean` has no pixels if it is unknown
};

/// Loads the first frames of two files. Without names, the function loads the still of
/// LULL_TEST_DATA (bench/kodak1080_*.png, sigma 20). If that variable is not set, it creates
/// 1920x1080 grey samples of waves and edges with Gaussian noise of sigma 20. `memory` provides the
/// memory for samples.
[[nodiscard]] PicturePair load_pair(const std::string& noisy, const std::string& clean,
                                    std::pmr::memory_resource* memory);

/// Returns a frame of `format` that is filled from the picture's first plane, which is mirrored at
/// its borders as often as necessary. Further planes contain other parts of the first plane.
/// `shift` moves the content by this number of samples, to create different frames. If the format
/// is that of the picture and `shift` is 0, the result is the picture itself.
[[nodiscard]] Frame reshape(const Frame& picture, const FrameFormat& format, int shift,
                            std::pmr::memory_resource* memory);

/// Adds white Gaussian noise to every plane in floating point. The result is rounded and clipped to
/// the bit depth of integer samples, as an analogue-to-digital converter would do. `sigma` is on
/// the 0..255 scale.
[[nodiscard]] Frame add_noise(const Frame& clean, double sigma, Gaussian& gaussian,
                              FramePool& pool);

/// Returns width x height samples of noise with standard deviation 1, row by row: white Gaussian
/// noise averaged over squares of `squares` samples (at least 1), and scaled.
[[nodiscard]] std::vector<double> averaged_noise(int width, int height, int squares,
                                                 Gaussian& gaussian);

/// Returns the noisy picture if `squares` is 0. Otherwise returns the clean picture with added
/// noise, rounded and clipped: white noise averaged over squares of `squares` samples, with
/// standard deviation `sigma` on the 0..255 scale.
/// @throws InvalidArgument  there is no clean picture
[[nodiscard]] Frame with_noise(const PicturePair& pair, double sigma, int squares,
                               std::pmr::memory_resource* memory);

/// Returns the PSNR in dB over the planes `first` to `last`.
/// @throws InvalidArgument  the formats differ
[[nodiscard]] double psnr(const Frame& a, const Frame& b, int first = 0, int last = 0);

}  // namespace lull::bench
