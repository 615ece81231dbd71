#pragma once
// A denoising session for the Python package. The bindings (module.cpp) release the GIL while a
// session opens, denoises or closes.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "choose/choose.h"
#include "core/frame_pool.h"
#include "python/src/planes.h"

namespace lull::python {

/// The feature buffers of a rendered frame, by name (noise/render/features.h). A feature buffer
/// consists of planes of floats with the size of the frame.
using FeatureImages = std::map<std::string, Image>;

/// A denoising session. Thread-safe: concurrent calls run one after another. The caller must not
/// hold the GIL.
class Session {
 public:
  Session(const SessionChoice& choice, const FrameFormat& format);

  /// Pushes an image and returns the ready results. `slice` is the index in a volume, or -1.
  /// `guide` may be empty. `features` may contain feature buffers.
  std::vector<Result> push(const Image& planes, int slice, bool copy, const Image& guide,
                           const FeatureImages& features);
  /// Pushes an image in GPU memory. If `copy` is false, the image must not change until the session
  /// has returned its result. `guide` may be null.
  std::vector<Result> push_on_device(const cuda::ArrayPicture& image, int slice, bool copy,
                                     const cuda::ArrayPicture* guide);
  /// Returns the next result after the last push, or no value if the session has returned all
  /// results. The session then accepts another clip.
  std::optional<Result> drain();
  void close();

  int latency() const { return latency_; }
  const std::string& device() const { return device_; }

 private:
  Denoiser& denoiser();
  std::vector<Result> push(Frame frame, int slice);  // the caller holds the mutex

  std::mutex mutex_;
  FrameFormat format_;
  FramePool pool_;               // for copies of host images
  DeviceFrames frames_on_gpus_;  // for images in GPU memory
  std::unique_ptr<Denoiser> denoiser_;
  int latency_ = 0;
  std::string device_;
  std::int64_t count_ = 0;
};

}  // namespace lull::python
