#pragma once
// Pictures that are free of noise, made larger. Lanczos' kernel is smooth where a picture is not:
// what it loses comes back in rounds of two steps.
// 1. Patches of the enlarged picture that are alike are filtered together, so that each gets the
//    detail that the others have at other places between the samples: BM3D's first phase, with a
//    threshold that falls from round to round (Danielyan, Foi, Katkovnik, Egiazarian, "Image
//    upsampling via spatially adaptive block-matching filtering", EUSIPCO 2008; no noise is added
//    here).
// 2. A sample of the small picture is the mean over the area that it stands for: what the means of
//    the enlarged one lack of it is enlarged and added (back-projection: Irani and Peleg 1991,
//    "Improving resolution by image registration").
// Chroma that is coarser than luma, or lies beside it as YUV, gets the second step alone.

#include <memory>

#include "bm3d/bm3d.h"
#include "core/frame.h"

namespace lull::scale {

inline constexpr double least_factor = 1, greatest_factor = 4;

/// Where the first sample of chroma lies, in samples of chroma from the picture's corner, where
/// that is coarser than luma: 0.5 in the middle of what it stands for, 0.25 on its first luma.
struct ChromaSite {
  double x = 0.5, y = 0.5;
};

struct Params {
  double factor = 2;                                // of width and height, 1..4
  bm3d::Profile profile = bm3d::Profile::balanced;  // how much is done for the detail
  ChromaSite site;
};

/// Frames of `format`, `factor` times as wide and as high, rounded to whole samples of chroma.
/// @throws InvalidArgument  the factor is out of range, the result too large for a frame
[[nodiscard]] FrameFormat scaled_format(const FrameFormat& format, double factor);

/// Enlarges frames of one format. Equal frames give equal bytes, whatever the number of threads.
class Enlarger {
 public:
  /// `backend`: what the first step runs on; the second runs on the CPU's cores.
  /// @throws InvalidArgument  as scaled_format(); whatever bm3d::open() throws
  Enlarger(const Params& params, const FrameFormat& format, const bm3d::Backend& backend);
  ~Enlarger();
  Enlarger(const Enlarger&) = delete;
  Enlarger& operator=(const Enlarger&) = delete;

  /// Of the results.
  [[nodiscard]] const FrameFormat& format() const noexcept;
  /// A frame in the host's memory, and what it is known by. Float samples that are no numbers count
  /// as 0. @throws DeviceFailure
  [[nodiscard]] Frame enlarged(const Frame& clean);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

/// Bytes of the host's memory that an Enlarger keeps, beside the frames that it gives away;
/// roughly.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format,
                                const bm3d::Backend& backend);

}  // namespace lull::scale
