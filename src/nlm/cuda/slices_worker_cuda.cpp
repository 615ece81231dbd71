// The worker for volumes: each plane is a separate volume. The worker uses three CUDA streams: the
// first uploads slices and converts them to padded float planes, the second filters, and the third
// downloads results.

// While the GPU filters batch n of the slices, the host uploads batch n + 1. The upload overwrites
// slices on which batch n - 1 depends, so the host first waits until the results of batch n - 1 are
// complete.

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

/// Returns the planes with noise.
std::vector<int> filtered_planes(const Params& params, const FrameFormat& format) {
  std::vector<int> planes;
  for (int i = 0; i < format.planes(); ++i)
    if (params.noise.sigma(i) > 0) planes.push_back(i);
  return planes;
}

/// Returns the number of slices per batch: the minimum of VolumeFilter::slices_at_a_time() over all
/// planes with noise, but at most `max_slices`.
int slices_for_all(const Params& params, const FrameFormat& format) {
  int batch_size = cuda::max_slices;
  for (const int i : filtered_planes(params, format))
    batch_size =
        std::min(batch_size, cuda::VolumeFilter::slices_at_a_time(volume_plan(params, format, i)));
  return batch_size;
}

/// A plane with noise.
class PlaneVolume {
 public:
  PlaneVolume(const Params& params, const FrameFormat& format, int plane, int batch_size,
              cudaStream_t compute_stream)
      : plane_(plane),
        margins_(Margins::none(format.plane_width(plane), format.plane_height(plane))),
        filter_(volume_plan(params, format, plane), batch_size, compute_stream),
        flat_(zeroed<float>(margins_.size(), compute_stream)) {
    if (params.guided) flat_guide_ = zeroed<float>(margins_.size(), compute_stream);
    for (auto& results : results_)
      results = zeroed<float>(batch_size * margins_.size(), compute_stream);
  }

  int plane() const { return plane_; }
  const Margins& margins() const { return margins_; }
  /// Device memory for the float samples of a slice, the input of load(). flat_guide() is the
  /// memory for the guide of the slice.
  float* flat() const { return flat_.get(); }
  float* flat_guide() const { return flat_guide_.get(); }
  void load(int z, cudaStream_t stream) { filter_.load(z, flat_.get(), flat_guide_.get(), stream); }
  /// Filters the slices in the span `wanted`. `buffer` (0 or 1) selects the memory for the results.
  void run(SliceSpan wanted, SliceSpan available, int buffer) {
    filter_.run(wanted, available, results_[buffer].get());
  }
  const float* result(int buffer, int k) const {
    return results_[buffer].get() + k * margins_.size();
  }

 private:
  int plane_;
  Margins margins_;
  cuda::VolumeFilter filter_;
  DeviceBuffer<float> flat_, flat_guide_;
  std::array<DeviceBuffer<float>, 2> results_;
};

class CudaSlicesWorker final : public SlicesWorker {
 public:
  CudaSlicesWorker(const Params& params, const FrameFormat& format, bool results_on_device,
                   const FrameFormat& results)
      : params_(params),
        format_(format),
        batch_size_(slices_for_all(params, format)),
        depth_(cuda::VolumeFilter::depth(params, batch_size_)),
        upload_stream_(lull::cuda::make_stream(lull::cuda::Priority::high)),
        compute_stream_(lull::cuda::make_stream()),
        download_stream_(lull::cuda::make_stream()),
        pool_(results, results_on_device),
        in_(without_colour_transform(format), compute_stream_.get(), levels(),
            curves_of(stabilisers_of(params)), without_colour_transform(results)),
        out_(without_colour_transform(format), compute_stream_.get(), levels(),
             curves_of(stabilisers_of(params)), without_colour_transform(results)),
        guide_(levels(), stabilisers_of(params), Colour::as_is) {
    for (const int i : filtered_planes(params, format)) {
      volumes_.emplace_back(params, format, i, batch_size_, compute_stream_.get());
      if (format.sample == SampleType::f32)
        original_[i] = {depth_, in_.plane_bytes(i), compute_stream_.get()};
    }
    pool_.reserve(2 * batch_size_);
    check(cudaStreamSynchronize(compute_stream_.get()));
  }

  ~CudaSlicesWorker() override {
    for (const auto* stream : {&upload_stream_, &compute_stream_, &download_stream_})
      (void)cudaStreamSynchronize(stream->get());
  }

  SliceMemory memory() const override { return SliceMemory::host_or_gpu; }
  int slices_at_a_time() const override { return batch_size_; }

  void begin(int) override {}

  void load(int z, PendingSlice& slice) override {
    const lull::cuda::NvtxRange range("upload a slice");
    in_.upload(slice.noisy, upload_stream_.get());
    for (int i = 0; i < format_.planes(); ++i)
      if (!slice.is_wanted || params_.noise.sigma(i) == 0)
        in_.pass_through(i, slice.noisy, memory_of(slice), upload_stream_.get());
    to_planes(slice.noisy);
    for (PlaneVolume& volume : volumes_) {
      volume.load(z, upload_stream_.get());
      const int i = volume.plane();
      if (std::byte* const original = original_[i].at(z % depth_))
        check(cudaMemcpyAsync(original, in_.planes().data[i], in_.plane_bytes(i),
                              cudaMemcpyDeviceToDevice, upload_stream_.get()));
    }
  }

  void finish(SliceSpan span, SliceSpan available, std::span<PendingSlice> slices) override {
    const lull::cuda::NvtxRange range("filter slices");
    const int buffer = finished_++ % 2;
    check(cudaEventRecord(uploaded_.get(), upload_stream_.get()));
    check(cudaStreamWaitEvent(compute_stream_.get(), uploaded_.get()));
    if (std::ranges::any_of(slices, &PendingSlice::is_wanted))
      for (PlaneVolume& volume : volumes_) volume.run(span, available, buffer);
    check(cudaEventRecord(computed_.get(), compute_stream_.get()));
    check(cudaStreamWaitEvent(download_stream_.get(), computed_.get()));
    for (int k = 0; k < span.size(); ++k) {
      Frame& clean = memory_of(slices[k]);
      if (slices[k].is_wanted) download_result(span.first + k, buffer, k, clean);
      clean = lull::cuda::publish_frame(std::move(clean));
    }
    check(cudaEventRecord(done_[buffer].get(), download_stream_.get()));
  }

  int in_flight() const noexcept override { return 1; }

  void await() override {
    const lull::cuda::NvtxRange range("wait for results");
    check(cudaEventSynchronize(done_[awaited_++ % 2].get()));
  }

 private:
  std::array<float, max_planes> levels() const { return params_.noise.levels_in_samples(); }

  Frame& memory_of(PendingSlice& slice) {
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
    in_.to_planes(margins, planes, upload_stream_.get());
    if (!params_.guided) return;
    guide_.upload(slice, upload_stream_.get());
    guide_.raw().to_planes(margins, guides, upload_stream_.get());
  }

  /// Downloads the result of slice `z`, which has the index `k` in its batch.
  void download_result(int z, int buffer, int k, const Frame& clean) {
    RawPlanes original = out_.planes();
    for (PlaneVolume& volume : volumes_) {
      const int i = volume.plane();
      out_.from_plane(i, volume.margins(), volume.result(buffer, k), download_stream_.get());
      if (std::byte* const samples = original_[i].at(z % depth_)) original.data[i] = samples;
    }
    out_.restore(original, download_stream_.get());
    for (PlaneVolume& volume : volumes_)
      out_.download(volume.plane(), clean, download_stream_.get());
  }

  Params params_;
  FrameFormat format_;
  int batch_size_, depth_;  // number of slices per batch; number of slices that are stored
  lull::cuda::Stream upload_stream_, compute_stream_, download_stream_;
  lull::cuda::ResultFrames pool_;
  RawFrame in_, out_;
  GuideFrame guide_;
  lull::cuda::Event uploaded_ = lull::cuda::make_event(), computed_ = lull::cuda::make_event();
  std::vector<PlaneVolume> volumes_;
  std::array<PlaneRing<std::byte>, max_planes> original_;  // original samples of float planes
  // Events of the two result buffers, recorded when the results of a batch are complete.
  std::array<lull::cuda::Event, 2> done_{lull::cuda::make_event(), lull::cuda::make_event()};
  int finished_ = 0, awaited_ = 0;  // number of batches
};

}  // namespace

std::unique_ptr<SlicesWorker> make_cuda_slices_worker(const Params& params,
                                                      const FrameFormat& format,
                                                      bool results_on_device,
                                                      const ResultSamples& results) {
  cuda::require_addressable(params, format);
  return std::make_unique<CudaSlicesWorker>(params, format, results_on_device,
                                            result_format(format, results));
}

}  // namespace lull::nlm
