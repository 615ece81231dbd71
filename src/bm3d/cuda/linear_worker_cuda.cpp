// The GPU worker for temporal linear combinations of patches. Its phases are the pilot and the
// iterations.

#include <memory>

#include "bm3d/cuda/address_range.h"
#include "bm3d/cuda/frame_transfer.h"
#include "bm3d/cuda/worker.h"
#include "bm3d/phase_plan.h"
#include "cuda/nvtx.h"
#include "cuda/shared_memory.h"
#include "linear/cuda/over_time.h"

namespace lull::bm3d {
namespace {

FrameTransfer::PlaneMargins margins_of(const Params& params, const FrameFormat& format) {
  FrameTransfer::PlaneMargins all;
  for (int i = 0; i < format.planes(); ++i) all[i] = plane_margins(params, format, i);
  return all;
}

class LinearCudaWorker : public FrameWorker {
 public:
  LinearCudaWorker(const Params& params, const FrameFormat& format, bool results_on_device,
                   const ResultSamples& results)
      : margins_(margins_of(params, format)),
        transfer_(params, format, results, results_on_device,
                  linear_session_plan(params, format).slots()),
        filter_(format, filtered_noise(params.noise, format), margins_,
                linear_session_plan(params, format).slots(), params.temporal, transfer_.stream()) {
    cuda::check(cudaStreamSynchronize(transfer_.stream()));
  }
  ~LinearCudaWorker() override { transfer_.wait(); }

  void take(const Frame& frame) override { transfer_.take(frame); }
  FrameDifference difference() override { return transfer_.difference(); }
  PredictionCost prediction(int slot, int earlier) override {
    return transfer_.motion().prediction(slot, earlier);
  }

  void load(int at) override {
    transfer_.load(at, margins_, filter_.noisy(at));
    filter_.start(at);
    transfer_.loaded();
  }

  void filter(Phase phase, std::span<const SlotFrame> frames) override {
    const cuda::NvtxRange range(phase == Phase::first ? "pilot" : "iteration");
    if (phase == Phase::first) transfer_.motion().find(frames);  // is done once, for all steps
    filter_.filter(static_cast<int>(phase), frames,
                   [&](int slot, int offset) { return transfer_.motion().cells(slot, offset); });
  }

  void finish_phase(Phase phase, int at) override {
    filter_.finish_step(static_cast<int>(phase), at);
  }

  Frame finish(int at) override {
    filter_.finish_step(linear::iterations_over_time, at);
    transfer_.convert(margins_, filter_.results(at), transfer_.next_output());
    return transfer_.finish(at);
  }

  int in_flight() const noexcept override { return transfer_.in_flight(); }
  void await() override { transfer_.await(); }

 private:
  FrameTransfer::PlaneMargins margins_;
  FrameTransfer transfer_;
  linear::DeviceFilterOverTime filter_;
};

}  // namespace

std::unique_ptr<FrameWorker> make_linear_cuda_worker(const Params& params,
                                                     const FrameFormat& format,
                                                     bool results_on_device,
                                                     const ResultSamples& results) {
  return std::make_unique<LinearCudaWorker>(params, format, results_on_device, results);
}

bool combines_over_time(const Params& params, const FrameFormat& format) {
  return linear::fits_over_time(format, filtered_noise(params.noise, format), params.temporal,
                                cuda::device_limits());
}

}  // namespace lull::bm3d
