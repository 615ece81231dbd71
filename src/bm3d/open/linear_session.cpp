#include "bm3d/open/linear_session.h"

#include <utility>
#include <vector>

#include "bm3d/open/linear_frames.h"
#include "bm3d/open/pass_through.h"
#include "core/error.h"

namespace lull::bm3d {
namespace {

class LinearSession : public Denoiser {
 public:
  LinearSession(const Params& params, const FrameFormat& format,
                std::unique_ptr<linear::Engine> engine, const ResultSamples& results)
      : format_(format),
        frames_(params, format, results),
        engine_(std::move(engine)),
        pictures_(frames_.make_pictures()) {}

  int latency() const noexcept override { return 0; }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    refuse_device_memory(noisy);
    frames_.load(noisy, pictures_);
    for (const linear::SetPlan& plan : frames_.sets()) filter(plan);
    return frames_.store(noisy, pictures_);
  }

  std::optional<Frame> drain() override { return std::nullopt; }

 private:
  void filter(const linear::SetPlan& plan) {
    std::vector<linear::PlaneState> planes;
    for (const int i : plan.set.planes) planes.push_back(frames_.state(pictures_, i));
    linear::filter_set(
        *engine_, plan.params, plan.range, planes, memory_,
        [&](linear::Source source) { return frames_.guide(plan.set, source, true, pictures_); },
        pictures_.holes.get());
  }

  FrameFormat format_;
  LinearFrames frames_;
  std::unique_ptr<linear::Engine> engine_;
  LinearPictures pictures_;
  linear::StillMemory memory_;
};

}  // namespace

std::unique_ptr<Denoiser> open_linear(const Params& params, const FrameFormat& format,
                                      std::unique_ptr<linear::Engine> engine,
                                      const ResultSamples& results) {
  if (params.temporal > 0) return open_linear_over_time(params, format, std::move(engine), results);
  return std::make_unique<LinearSession>(params, format, std::move(engine), results);
}

}  // namespace lull::bm3d
