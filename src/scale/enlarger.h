#pragma once
// Enlarging of pictures without noise. Interpolation with the Lanczos kernel is smooth and loses
// detail. Several rounds of two steps restore the detail.
// 1. BM3D filters similar patches of the enlarged picture together. As a result, each patch gets
//    the detail that the other patches have at other positions between the samples. The filter is
//    the first phase of BM3D, with a threshold that decreases from round to round (Danielyan, Foi,
//    Katkovnik, Egiazarian, "Image upsampling via spatially adaptive block-matching filtering",
//    EUSIPCO 2008; unlike that method, lull adds no noise).
// 2. A sample of the small picture is the mean over the area that it covers. The Enlarger computes
//    the difference between the small picture and these means of the enlarged picture, enlarges the
//    difference, and adds it to the enlarged picture (back-projection: Irani and Peleg 1991,
//    "Improving resolution by image registration").
// Only the second step processes the chroma planes of YUV.

#include <memory>
#include <optional>

#include "bm3d/bm3d.h"
#include "core/frame.h"

namespace lull::scale {

inline constexpr double min_factor = 1, max_factor = 4;

/// Position of the first chroma sample if chroma is subsampled, measured from the corner of the
/// picture in units of chroma samples. The value 0.5 is the centre of the area that the chroma
/// sample covers. The value 0.25 is the position of the first luma sample in an area of two luma
/// samples.
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
  /// @param results  a format that determines the sample type and the bit depth of the results, but
  /// not
  ///     their size. If it is empty, the results have the samples of `format`.
  /// @throws InvalidArgument  in the same cases as scaled_format()
  /// @throws any exception of bm3d::open()
  Enlarger(const Params& params, const FrameFormat& format, const bm3d::Backend& backend,
           const std::optional<FrameFormat>& results = std::nullopt);
  ~Enlarger();
  Enlarger(const Enlarger&) = delete;
  Enlarger& operator=(const Enlarger&) = delete;

  /// Returns the format of the results.
  [[nodiscard]] const FrameFormat& format() const noexcept;
  /// Returns the enlarged frame. The result has the time and the side data of `clean`. The samples
  /// of `clean` must be in host memory. Float samples that are not finite count as 0.
  /// @throws DeviceFailure
  [[nodiscard]] Frame enlarged(const Frame& clean);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

/// Returns the approximate number of bytes of host memory that an Enlarger uses, in addition to the
/// frames that it returns.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format,
                                const bm3d::Backend& backend);

}  // namespace lull::scale
