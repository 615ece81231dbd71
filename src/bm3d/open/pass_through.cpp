#include "bm3d/open/pass_through.h"

#include <optional>
#include <utility>

#include "core/error.h"
#include "core/frame_pool.h"
#include "core/samples.h"

namespace lull::bm3d {
namespace {

/// A session that filters no plane and returns each frame unfiltered.
class PassThroughSession : public Denoiser {
 public:
  PassThroughSession(const FrameFormat& format, const ResultSamples& results)
      : format_(format), pool_(result_format(format, results)) {}
  int latency() const noexcept override { return 0; }
  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    refuse_device_memory(noisy);
    return unfiltered(std::move(noisy), pool_);
  }
  std::optional<Frame> drain() override { return std::nullopt; }

 private:
  FrameFormat format_;
  FramePool pool_;
};

}  // namespace

void refuse_device_memory(const Frame& frame) {
  if (frame.on_device)
    throw InvalidArgument(
        "a frame in the memory of a GPU (this session runs on the CPU); decode it on the CPU");
}

std::unique_ptr<Denoiser> open_pass_through(const FrameFormat& format,
                                            const ResultSamples& results) {
  return std::make_unique<PassThroughSession>(format, results);
}

}  // namespace lull::bm3d
