// Each plane is a volume of its own. Three streams: one brings slices, as samples and as planes of
// floats that continue, one computes, and one takes results away. The host waits for results alone:
// while those of some slices are computed it brings the slices that the next ones need. By then the
// results of the ones before were awaited, so that nobody needs what these slices and results
// replace: VolumeFilter::depth() slices before them, and two turns.

#include <algorithm>
#include <vector>

#include "cuda/nvtx.h"
#include "cuda/raw_frame.h"
#include "cuda/results/result_frames.h"
#include "match/cuda/guide_frame.h"
#include "nlm/cuda/filters.h"
#include "nlm/cuda/workers.h"
#include "nlm/plans.h"

namespace lull::nlm {
namespace {

using lull::cuda::check;
using lull::cuda::DeviceBuffer;

/// The planes with noise.
std::vector<int> filtered_planes(const Params& params, const FrameFormat& format) {
  std::vector<int> planes;
  for (int i = 0; i < format.planes(); ++i)
    if (params.noise.sigma(i) > 0) planes.push_back(i);
  return planes;
}

/// As many slices as suit all planes.
int slices_for_all(const Params& params, const FrameFormat& format) {
  int together = cuda::most_slices;
  for (const int i : filtered_planes(params, format))
    together =
        std::min(together, cuda::VolumeFilter::slices_at_a_time(volume_plan(params, format, i)));
  return together;
}

/// A plane with noise.
class PlaneVolume {
 public:
  PlaneVolume(const Params& params, const FrameFormat& format, int plane, int together,
              cudaStream_t computing)
      : plane_(plane),
        margins_(Margins::none(format.plane_width(plane), format.plane_height(plane))),
        filter_(volume_plan(params, format, plane), together, computing),
        flat_(zeroed<float>(margins_.size(), computing)) {
    if (params.guided) flat_guide_ = zeroed<float>(margins_.size(), computing);
    for (auto& results : results_) results = zeroed<float>(together * margins_.size(), computing);
  }

  int plane() const { return plane_; }
  const Margins& margins() const { return margins_; }
  /// Where the samples of a slice come, and those of its guide.
  float* flat() const { return flat_.get(); }
  float* flat_guide() const { return flat_guide_.get(); }
  void load(int z, cudaStream_t stream) { filter_.load(z, flat_.get(), flat_guide_.get(), stream); }
  /// `turn`: 0 or 1, which memory the results go to.
  void run(SliceSpan wanted, SliceSpan there, int turn) {
    filter_.run(wanted, there, results_[turn].get());
  }
  const float* result(int turn, int k) const { return results_[turn].get() + k * margins_.size(); }

 private:
  int plane_;
  Margins margins_;
  cuda::VolumeFilter filter_;
  DeviceBuffer<float> flat_, flat_guide_;
  std::array<DeviceBuffer<float>, 2> results_;
};

class CudaSlicesWorker final : public SlicesWorker {
 public:
  CudaSlicesWorker(const Params& params, const FrameFormat& format, bool results_on_device)
      : params_(params),
        format_(format),
        together_(slices_for_all(params, format)),
        depth_(cuda::VolumeFilter::depth(params, together_)),
        bringing_(lull::cuda::make_stream(lull::cuda::Priority::high)),
        computing_(lull::cuda::make_stream()),
        taking_(lull::cuda::make_stream()),
        pool_(format, results_on_device),
        in_(planes_alone(format), computing_.get(), levels(), curves_of(stabilisers_of(params))),
        out_(planes_alone(format), computing_.get(), levels(), curves_of(stabilisers_of(params))),
        guide_(levels(), stabilisers_of(params), Colour::as_is) {
    for (const int i : filtered_planes(params, format)) {
      volumes_.emplace_back(params, format, i, together_, computing_.get());
      if (format.sample == SampleType::f32)
        original_[i] = {depth_, in_.plane_bytes(i), computing_.get()};
    }
    pool_.reserve(2 * together_);
    check(cudaStreamSynchronize(computing_.get()));
  }

  ~CudaSlicesWorker() override {
    for (const auto* stream : {&bringing_, &computing_, &taking_})
      (void)cudaStreamSynchronize(stream->get());
  }

  SliceMemory memory() const override { return SliceMemory::host_or_gpu; }
  int slices_at_a_time() const override { return together_; }

  void begin(int) override {}

  void load(int z, SliceInWork& slice) override {
    const lull::cuda::NvtxRange range("bring a slice");
    in_.bring(slice.noisy, bringing_.get());
    for (int i = 0; i < format_.planes(); ++i)
      if (!slice.is_wanted || params_.noise.sigma(i) == 0)
        in_.pass_through(i, slice.noisy, memory_of(slice), bringing_.get());
    to_planes(slice.noisy);
    for (PlaneVolume& volume : volumes_) {
      volume.load(z, bringing_.get());
      const int i = volume.plane();
      if (std::byte* const original = original_[i].at(z % depth_))
        check(cudaMemcpyAsync(original, in_.planes().data[i], in_.plane_bytes(i),
                              cudaMemcpyDeviceToDevice, bringing_.get()));
    }
  }

  void finish(SliceSpan span, SliceSpan there, std::span<SliceInWork> slices) override {
    const lull::cuda::NvtxRange range("filter slices");
    const int turn = finished_++ % 2;
    check(cudaEventRecord(brought_.get(), bringing_.get()));
    check(cudaStreamWaitEvent(computing_.get(), brought_.get()));
    if (std::ranges::any_of(slices, &SliceInWork::is_wanted))
      for (PlaneVolume& volume : volumes_) volume.run(span, there, turn);
    check(cudaEventRecord(computed_.get(), computing_.get()));
    check(cudaStreamWaitEvent(taking_.get(), computed_.get()));
    for (int k = 0; k < span.size(); ++k) {
      Frame& clean = memory_of(slices[k]);
      if (slices[k].is_wanted) take(span.first + k, turn, k, clean);
      clean = lull::cuda::handed_out(std::move(clean));
    }
    check(cudaEventRecord(there_[turn].get(), taking_.get()));
  }

  int in_flight() const noexcept override { return 1; }

  void await() override {
    const lull::cuda::NvtxRange range("wait for results");
    check(cudaEventSynchronize(there_[awaited_++ % 2].get()));
  }

 private:
  std::array<float, max_planes> levels() const { return params_.noise.levels_in_samples(); }

  Frame& memory_of(SliceInWork& slice) {
    if (!slice.clean.pixels) slice.clean = pool_.acquire();
    return slice.clean;
  }

  void to_planes(const Frame& slice) {
    std::array<const Margins*, max_planes> margins{};
    std::array<float*, max_planes> planes{}, guides{};
    for (PlaneVolume& volume : volumes_) {
      const int i = volume.plane();
      margins[i] = &volume.margins();
      planes[i] = volume.flat(), guides[i] = volume.flat_guide();
    }
    in_.to_planes(margins, planes, bringing_.get());
    if (!params_.guided) return;
    guide_.bring(slice, bringing_.get());
    guide_.raw().to_planes(margins, guides, bringing_.get());
  }

  /// The result of slice `z`, number `k` of its batch.
  void take(int z, int turn, int k, const Frame& clean) {
    RawPlanes original = out_.planes();
    for (PlaneVolume& volume : volumes_) {
      const int i = volume.plane();
      out_.from_plane(i, volume.margins(), volume.result(turn, k), taking_.get());
      if (std::byte* const samples = original_[i].at(z % depth_)) original.data[i] = samples;
    }
    out_.restore(original, taking_.get());
    for (PlaneVolume& volume : volumes_) out_.take(volume.plane(), clean, taking_.get());
  }

  Params params_;
  FrameFormat format_;
  int together_, depth_;  // slices that are finished at a time; that are kept
  lull::cuda::Stream bringing_, computing_, taking_;
  lull::cuda::ResultFrames pool_;
  RawFrame in_, out_;
  GuideFrame guide_;
  lull::cuda::Event brought_ = lull::cuda::make_event(), computed_ = lull::cuda::make_event();
  std::vector<PlaneVolume> volumes_;
  std::array<PlaneRing<std::byte>, max_planes> original_;  // of floats, as they came
  // Slices that are finished together are there, with their results; in turn.
  std::array<lull::cuda::Event, 2> there_{lull::cuda::make_event(), lull::cuda::make_event()};
  int finished_ = 0, awaited_ = 0;  // of these
};

}  // namespace

std::unique_ptr<SlicesWorker> make_cuda_slices_worker(const Params& params,
                                                      const FrameFormat& format,
                                                      bool results_on_device) {
  return std::make_unique<CudaSlicesWorker>(params, format, results_on_device);
}

}  // namespace lull::nlm
