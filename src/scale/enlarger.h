#pragma once
// Enlarging of pictures without noise. Lanczos' kernel is smooth and loses detail; rounds of two
// steps restore it.
// 1. Similar patches of the enlarged picture are filtered together, so that each gets the detail
//    that the others have at other positions between the samples: BM3D's first phase, with a
//    threshold that decreases from round to round (Danielyan, Foi, Katkovnik, Egiazarian, "Image
//    upsampling via spatially adaptive block-matching filtering", EUSIPCO 2008; no noise is added
//    here).
// 2. A sample of the small picture is the mean over the area that it covers. The difference between
//    the small picture and the means of the enlarged picture is enlarged and added
//    (back-projection: Irani and Peleg 1991, "Improving resolution by image registration").
// The chroma planes of YUV get only the second step.

#include <memory>
#include <optional>

#include "bm3d/bm3d.h"
#include "core/frame.h"

namespace lull::scale {

inline constexpr double min_factor = 1, max_factor = 4;

/// Position of the first chroma sample if chroma is subsampled, in chroma samples from the corner
/// of the picture: 0.5 at the centre of the area that it covers, 0.25 at its first luma sample.
struct ChromaSite {
  double x = 0.5, y = 0.5;
};

struct Params {
  double factor = 2;                                // enlargement of width and height, 1..4
  bm3d::Profile profile = bm3d::Profile::balanced;  // quality of the detail
  ChromaSite site;
};

/// Returns the format of frames that are `factor` times as wide and as high, rounded to complete
/// chroma samples.
/// @throws InvalidArgument  the factor is out of range, or the result is too large for a frame
[[nodiscard]] FrameFormat scaled_format(const FrameFormat& format, double factor);

/// Enlarges frames of one format. Equal frames give equal results bit for bit, whatever the number
/// of threads.
class Enlarger {
 public:
  /// @param backend  where the first step runs; the second step runs on the CPU
  /// @param results  a format of frames that are not enlarged: the results get its samples. Empty:
  ///     the results have the samples of `format`.
  /// @throws InvalidArgument  as scaled_format()
  /// @throws any exception of bm3d::open()
  Enlarger(const Params& params, const FrameFormat& format, const bm3d::Backend& backend,
           const std::optional<FrameFormat>& results = std::nullopt);
  ~Enlarger();
  Enlarger(const Enlarger&) = delete;
  Enlarger& operator=(const Enlarger&) = delete;

  /// Returns the format of the results.
  [[nodiscard]] const FrameFormat& format() const noexcept;
  /// Returns the enlarged frame, with the time and side data of `clean`, which must be in host
  /// memory. Float samples that are not finite count as 0.
  /// @throws DeviceFailure
  [[nodiscard]] Frame enlarged(const Frame& clean);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

/// Returns the approximate number of bytes of host memory that an Enlarger keeps, in addition to
/// the frames that it returns.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format,
                                const bm3d::Backend& backend);

}  // namespace lull::scale
