#pragma once
// The filters of the cuda backend as engines for planes in host memory, so that tests can compare
// them with the reference's engines.

#include <memory>
#include <vector>

#include "cuda/staging.h"
#include "nlm/cuda/filters.h"

namespace lull::nlm::test_support {

/// A plane in device memory, uploaded for the filters and downloaded from them.
class FlatPlane {
 public:
  FlatPlane() = default;
  FlatPlane(int width, int height) : memory_(Margins::none(width, height).size()) {}
  float* get() const { return memory_.get(); }
  void upload(PlaneView<const float> from, lull::cuda::Staging& staging, cudaStream_t stream) {
    staging.upload(lull::cuda::bytes_of(from), get(), pitch(from.width), stream);
  }
  static void download(const float* from, PlaneView<float> to, lull::cuda::Staging& staging,
                       cudaStream_t stream) {
    staging.download(from, pitch(to.width), lull::cuda::bytes_of(to), stream);
  }

 private:
  static std::size_t pitch(int width) { return Margins::flat_pitch(width) * sizeof(float); }
  lull::cuda::DeviceBuffer<float> memory_;
};

class CudaFrameEngine final : public FrameEngine {
 public:
  explicit CudaFrameEngine(const FramePlan& plan) : plan_(plan), filter_(plan, stream_.get()) {
    for (auto* planes : {&samples_, &guides_})
      for (FlatPlane& plane : *planes) plane = FlatPlane(plan.width, plan.height);
  }

  void load(int slot, const PlaneViews& samples, const PlaneViews& guides,
            const Holes* holes) override {
    cuda::Planes3 own{}, others{};
    for (int c = 0; c < plan_.planes; ++c) {
      samples_[c].upload(samples[c], staging_, stream_.get());
      own[c] = samples_[c].get();
    }
    for (int c = 0; !plan_.is_self_guided && c < plan_.guides; ++c) {
      guides_[c].upload(guides[c], staging_, stream_.get());
      others[c] = guides_[c].get();
    }
    if (holes != nullptr) {
      const std::vector<std::uint8_t> places = holes->reached(1);
      holes_ = lull::cuda::DeviceBuffer<std::uint8_t>(places.size());
      lull::cuda::check(cudaMemcpyAsync(holes_.get(), places.data(), places.size(),
                                        cudaMemcpyHostToDevice, stream_.get()));
    }
    filter_.load(slot, own, others, holes != nullptr ? holes_.get() : nullptr);
    lull::cuda::check(cudaStreamSynchronize(stream_.get()));
  }

  void estimate(std::span<const CandidateFrame> frames,
                const std::array<PlaneView<float>, 3>& results) override {
    std::vector<cuda::CandidateSlot> candidates;
    std::vector<lull::cuda::DeviceBuffer<Motion>> motion;
    for (const CandidateFrame& frame : frames) {
      candidates.push_back({frame.slot, nullptr});
      if (frame.motion.empty()) continue;
      motion.emplace_back(frame.motion.size());
      candidates.back().motion = motion.back().get();
      lull::cuda::check(cudaMemcpyAsync(motion.back().get(), frame.motion.data(),
                                        frame.motion.size_bytes(), cudaMemcpyHostToDevice,
                                        stream_.get()));
    }
    filter_.run(candidates);
    for (int c = 0; c < plan_.planes; ++c)
      FlatPlane::download(filter_.result(c), results[c], staging_, stream_.get());
    lull::cuda::check(cudaStreamSynchronize(stream_.get()));
  }

 private:
  FramePlan plan_;
  lull::cuda::Stream stream_ = lull::cuda::make_stream();
  cuda::FrameFilter filter_;
  lull::cuda::Staging staging_;
  std::array<FlatPlane, 3> samples_, guides_;
  lull::cuda::DeviceBuffer<std::uint8_t> holes_;
};

class CudaVolumeEngine final : public VolumeEngine {
 public:
  explicit CudaVolumeEngine(const VolumePlan& plan)
      : together_(cuda::VolumeFilter::slices_at_a_time(plan)),
        filter_(plan, together_, stream_.get()),
        samples_(plan.width, plan.height),
        guide_(plan.width, plan.height),
        flat_(Margins::none(plan.width, plan.height)),
        results_(together_ * flat_.size()) {}

  int slices_at_a_time() const override { return together_; }
  void begin(int) override {}
  void load(int z, PlaneView<const float> samples, PlaneView<const float> guide) override {
    samples_.upload(samples, staging_, stream_.get());
    guide_.upload(guide, staging_, stream_.get());
    filter_.load(z, samples_.get(), guide_.get(), stream_.get());
    lull::cuda::check(cudaStreamSynchronize(stream_.get()));
  }
  void estimate(SliceSpan wanted, SliceSpan there,
                std::span<const PlaneView<float>> results) override {
    filter_.run(wanted, there, results_.get());
    for (std::size_t k = 0; k < results.size(); ++k)
      FlatPlane::download(results_.get() + k * flat_.size(), results[k], staging_, stream_.get());
    lull::cuda::check(cudaStreamSynchronize(stream_.get()));
  }

 private:
  lull::cuda::Stream stream_ = lull::cuda::make_stream();
  int together_;
  cuda::VolumeFilter filter_;
  lull::cuda::Staging staging_;
  FlatPlane samples_, guide_;
  Margins flat_;
  lull::cuda::DeviceBuffer<float> results_;
};

inline std::unique_ptr<FrameEngine> make_cuda_frame_engine(const FramePlan& plan) {
  return std::make_unique<CudaFrameEngine>(plan);
}
inline std::unique_ptr<VolumeEngine> make_cuda_volume_engine(const VolumePlan& plan) {
  return std::make_unique<CudaVolumeEngine>(plan);
}

}  // namespace lull::nlm::test_support
