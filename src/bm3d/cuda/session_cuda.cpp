// Sessions of the `cuda` backend, with or without temporal filtering (time/frame_session.h).

// Without temporal filtering, each frame in flight has a slot with its own CUDA stream and device
// memory, so copies and kernels of different frames overlap.

#include <vector>

#include "bm3d/cuda/address_range.h"
#include "bm3d/cuda/session.h"
#include "bm3d/cuda/session_with_matcher.h"
#include "bm3d/cuda/slot.h"
#include "bm3d/cuda/worker.h"
#include "core/error.h"
#include "cuda/nvtx.h"
#include "cuda/pinned_memory.h"
#include "cuda/results/result_frames.h"
#include "cuda/session_on_device.h"
#include "match/frame_guide.h"
#include "noise/holes.h"

namespace lull::bm3d {
namespace {

/// A session without temporal filtering.
class SlotSession final : public Denoiser {
 public:
  SlotSession(const Params& params, const FrameFormat& format, int streams,
              cuda::MatcherFactory make_matcher, bool results_on_device, const FrameFormat& results)
      : format_(format),
        guided_(params.guided),
        holes_(params.holes),
        pool_(results, results_on_device) {
    for (int i = 0; i < streams; ++i)
      slots_.push_back(std::make_unique<CudaSlot>(params, format, make_matcher, results));
    pool_.reserve(streams + cuda::expected_queued_results);
  }

  int latency() const noexcept override { return static_cast<int>(slots_.size()); }

  std::optional<Frame> push(Frame noisy) override {
    if (noisy.format != format_)
      throw InvalidArgument(
          "a frame of another format (a session takes one format); open another session");
    // Throws for an invalid frame before the slot returns its previous result. An exception after
    // that would discard this result.
    (void)guide_of(noisy, guided_);
    if (holes_) (void)holes_of(noisy);
    CudaSlot& slot = *slots_[next_];
    next_ = (next_ + 1) % slots_.size();
    std::optional<Frame> ready = slot.finish();
    slot.start(std::move(noisy), pool_.acquire());
    return ready;
  }

  std::optional<Frame> drain() override {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      CudaSlot& slot = *slots_[next_];
      next_ = (next_ + 1) % slots_.size();
      if (std::optional<Frame> ready = slot.finish()) return ready;
    }
    return std::nullopt;
  }

 private:
  FrameFormat format_;
  bool guided_, holes_;  // whether frames have guides, and may have holes
  cuda::ResultFrames pool_;
  std::vector<std::unique_ptr<CudaSlot>> slots_;
  std::size_t next_ = 0;  // slot of the oldest frame in flight; the next frame uses it
};

}  // namespace

std::unique_ptr<Denoiser> open_cuda(const Params& params, const FrameFormat& format, int device,
                                    int streams, bool results_on_device,
                                    const ResultSamples& results) {
  return open_cuda(params, format, device, streams, cuda::make_matcher, results_on_device, results);
}

std::unique_ptr<Denoiser> open_cuda(const Params& params, const FrameFormat& format, int device,
                                    int streams, cuda::MatcherFactory make_matcher,
                                    bool results_on_device, const ResultSamples& results) {
  require_addressable(params, format);
  return cuda::open_on_device(device, [&]() -> std::unique_ptr<Denoiser> {
    if (params.temporal == 0)
      return std::make_unique<SlotSession>(params, format, streams, make_matcher, results_on_device,
                                           result_format(format, results));
    if (params.linear_combinations && combines_over_time(params, format))
      return open_session(linear_session_plan(params, format), format,
                          make_linear_cuda_worker(params, format, results_on_device, results));
    Params phases = params;
    phases.linear_combinations = false;  // with little shared memory, the phases run
    return open_session(session_plan(phases, format), format,
                        make_cuda_worker(phases, format, make_matcher, results_on_device, results));
  });
}

std::pmr::memory_resource* cuda_frame_memory(int device) {
  cuda::lock_pages_with(device);
  return cuda::pinned_memory();
}

}  // namespace lull::bm3d
