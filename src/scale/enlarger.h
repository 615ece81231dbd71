#pragma once
// Enlarges pictures that contain no noise. Lanczos interpolation enlarges a picture, but loses
// detail. Several rounds of two steps then restore the detail.

// In the first step of a round, the first phase of BM3D filters the enlarged picture. The filter
// restores detail, because similar patches contain different samples of the same detail (Danielyan,
// Foi, Katkovnik, Egiazarian, "Image upsampling via spatially adaptive block-matching filtering",
// EUSIPCO 2008). Unlike this paper, lull adds no noise.

// In the second step of a round, back-projection corrects the enlarged picture (Irani and Peleg
// 1991, "Improving resolution by image registration"). The Enlarger subtracts the area means of the
// enlarged picture from the small picture, enlarges this difference, and adds the result to the
// enlarged picture.

// The threshold of BM3D decreases from round to round. The chroma planes of YUV get only
// back-projection.

#include <memory>
#include <optional>

#include "bm3d/bm3d.h"
#include "core/frame.h"

namespace lull::scale {

inline constexpr double min_factor = 1, max_factor = 4;

/// Position of the first sample of subsampled chroma, in chroma samples from the corner of the
/// picture. 0.5 is the centre of the area of the chroma sample, and 0.25 is the centre of the first
/// of two luma samples.
struct ChromaSite {
  double x = 0.5, y = 0.5;
};

struct Params {
  double factor = 2;                                // enlargement of width and height, 1..4
  bm3d::Profile profile = bm3d::Profile::balanced;  // profile for the restoration of detail
  ChromaSite site;
};

/// Returns the format of frames after an enlargement by `factor` along both axes. The function
/// rounds the size to complete chroma samples.
/// @throws InvalidArgument  the factor is out of range, or the result is too large for a frame
[[nodiscard]] FrameFormat scaled_format(const FrameFormat& format, double factor);

/// Enlarges frames of one format. Equal frames give bit-identical results for any number of
/// threads.
class Enlarger {
 public:
  /// @param backend  the backend of BM3D; back-projection runs on the CPU
  /// @param results  a format with the sample type and the bit depth of the results; the Enlarger
  ///     ignores the size of `results`. If `results` is empty, the results have the sample type and
  ///     the bit depth of `format`.
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

/// Returns the approximate host memory of an Enlarger in bytes, without the frames that the
/// Enlarger returns.
[[nodiscard]] double host_bytes(const Params& params, const FrameFormat& format,
                                const bm3d::Backend& backend);

}  // namespace lull::scale
