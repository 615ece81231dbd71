#pragma once
// A session of lull for Python: arrays in, results out, the interpreter's lock released meanwhile.

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

/// Planes of floats by the names of noise/render/features.h, each of the frame's size.
using FeatureImages = std::map<std::string, Image>;

/// May be used from several threads: one call waits for the other. Its methods are called without
/// the interpreter's lock.
class Session {
 public:
  Session(const SessionChoice& choice, const FrameFormat& format);

  /// The results that are ready now. `slice`: place in a volume, -1 where there is none. `guide`:
  /// Frame::guide of a guided session, otherwise empty. `features`: those of a render.
  std::vector<Result> push(const Image& planes, int slice, bool copy, const Image& guide,
                           const FeatureImages& features);
  /// The same of an image in the memory of a GPU, which stays as it is until the result is out, but
  /// with `copy`. `guide`: null, or one of a guided session.
  std::vector<Result> push_on_device(const cuda::ArrayPicture& image, int slice, bool copy,
                                     const cuda::ArrayPicture* guide);
  /// After the last push: the next result, or none; the session is as new then.
  std::optional<Result> drain();
  void close();

  int latency() const { return latency_; }
  const std::string& device() const { return device_; }

 private:
  Denoiser& denoiser();
  std::vector<Result> push(Frame frame, int slice);  // the mutex is held

  std::mutex mutex_;
  FrameFormat format_;
  FramePool pool_;               // of copies on their way in
  DeviceFrames frames_on_gpus_;  // of images there
  std::unique_ptr<Denoiser> denoiser_;
  int latency_ = 0;
  std::string device_;
  std::int64_t count_ = 0;
};

}  // namespace lull::python
