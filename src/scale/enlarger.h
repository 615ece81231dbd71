#pragma once
// Enlarging of pictures without noise. Lanczos interpolation loses detail. Several rounds of two
// steps restore the detail:
// 1. The first phase of BM3D filters similar patches of the enlarged picture together, with a
//    threshold that decreases from round to round. Each patch gets the detail that other patches
//    have at other positions between the samples (Danielyan, Foi, Katkovnik, Egiazarian, "Image
//    upsampling via spatially adaptive block-matching filtering", EUSIPCO 2008; unlike that method,
//    lull adds no noise).
// 2. Back-projection (Irani and Peleg 1991, "Improving resolution by image registration") corrects
//    the enlarged picture. The Enlarger computes the mean of the enlarged picture over the area of
//    each sample of the small picture. It subtracts these means from the small picture, enlarges
//    the difference, and adds it to the enlarged picture. The chroma planes of YUV get only this
//    step.

#include <memory>
#include <optional>

#include "bm3d/bm3d.h"
#include "core/frame.h"

namespace lull::scale {

inline constexpr double min_factor = 1, max_factor = 4;

/// Position of the first sample of subsampled chroma, in chroma samples from the corner of the
/// picture: 0.5 is the centre of the area that the chroma sample covers, and 0.25 the first of two
/// luma samples.
struct ChromaSite {
  double x = 0.5, y = 0.5;
};

struct Params {
  double factor = 2;                                // enlargement of width and height, 1..4
  bm3d::Profile profile = bm3d::Profile::balanced;  // profile for the restoration of detail
  ChromaSite site;
};

/// Returns the format of frames that are `factor` times as wide and as high, rounded to complete
/// chroma samples.
/// @throws InvalidArgument  the factor is out of range, or the result is too large for a frame
[[nodiscard]] FrameFormat scaled_format(const FrameFormat& format, double factor);

/// Enlarges frames of one format. Equal frames give equal results bit for bit, for any number of
/// threads.
class Enlarger {
 public:
  /// @param backend  the backend of the first step; the second step runs on the CPU
  /// @param results  a format with the sample type and the bit depth of the results; its size is
  ///     ignored. If it is empty, the results have the samples of `format`.
  /// @throws InvalidArgument  in the same cases as scaled_format()
  /// @throws any exception of bm3d::open()
  Enlarger(const Params& params, const FrameFormat& format, const bm3d::Backend& backend,
           const std::optional<FrameFormat>& results = std::nullopt);
  ~Enlarger();
  Enlarger(const Enlarger&) = delete;
  Enlarger& operator=(const Enlarger&) = delete;

  /// Returns the format of the results.
  [[nodiscard]] const FrameFormat& format() const noexcept;
  /// Returns the enlarged frame, with the time and the side data of `clean`. The samples of `clean`
  /// must be in host memory. Float samples that are not finite count as 0.
  /// @throws DeviceFailure
  [[nodiscard]] Frame enlarged(const Frame& clean);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

/// Returns the approximate number of bytes of host memory of an Enlarger, without the frames that
/// it returns.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format,
                                const bm3d::Backend& backend);

}  // namespace lull::scale
