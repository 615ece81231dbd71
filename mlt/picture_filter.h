#pragma once
// Denoises images of MLT one by one.

#include <framework/mlt.h>

#include <memory>
#include <optional>

#include "choose/clip_settings.h"
#include "core/frame_pool.h"

namespace lull::mlt {

/// Returns the format in which lull filters an image: the requested format if lull can filter it,
/// otherwise packed YUV 4:2:2.
[[nodiscard]] mlt_image_format filtered_format(mlt_image_format requested);

/// Filters each image separately. One thread at a time may use an object.
class PictureFilter {
 public:
  /// Filters an image in place. If no noise level is given, the function estimates the noise in
  /// each image. The function ignores `settings.temporal`.
  /// @throws any exception of choose_clip() and open_chosen()
  void filter(const ClipSettings& settings, mlt_image_format format, int width, int height,
              void* data);

 private:
  void open(const ClipSettings& settings, const FrameFormat& format);

  ClipSettings settings_;
  FrameFormat format_;
  ClipChoice choice_;
  std::optional<FramePool> pool_;
  std::unique_ptr<Denoiser> session_;
};

}  // namespace lull::mlt
