// The cuda backend of non-local means with features, for planes and results in host memory.

#include <algorithm>
#include <vector>

#include "cuda/check.h"
#include "cuda/handles.h"
#include "cuda/staging.h"
#include "nlm/features/engine.h"
#include "nlm/features/kernels.h"

namespace lull::nlm {
namespace {

using lull::cuda::bytes_of;
using lull::cuda::check;
using lull::cuda::DeviceBuffer;

/// Returns the smallest number of regressors that the kernels support and that is at least
/// `regressors`. The kernels then use additional regressors, whose planes are 0.
int filled_up(int regressors) { return regressors == 0 ? 0 : regressors <= 4 ? 4 : 7; }

class CudaFeatureEngine final : public FeatureEngine {
 public:
  explicit CudaFeatureEngine(const FeaturePlan& plan)
      : plan_(plan),
        stream_(lull::cuda::make_stream()),
        space_(plan.width, plan.height, plan.reach()),
        slots_(plan.slots),
        cost_(plane_size()),
        share_(plane_size()),
        zeros_(plane_size()) {
    check(cudaMemsetAsync(zeros_.get(), 0, zeros_.bytes(), stream_.get()));
    std::vector<cuda::DeviceDisplacement> window = cuda::window_of(plan.search_radius, space_);
    window.emplace_back();
    window_ = DeviceBuffer<cuda::DeviceDisplacement>(window.size());
    check(cudaMemcpy(window_.get(), window.data(), window_.bytes(), cudaMemcpyHostToDevice));
    for (DeviceBuffer<float>& raw : raw_) raw = DeviceBuffer<float>(space_.flat_size());
    for (int c = 0; c < plan.planes; ++c) {
      for (Candidate* candidate : {&colour_, &guided_}) {
        candidate->value[c] = DeviceBuffer<float>(plane_size());
        candidate->derivative[c] = DeviceBuffer<float>(plane_size());
      }
      results_[c] = DeviceBuffer<float>(plane_size());
    }
    for (Slot& slot : slots_)
      for (auto* quads : {&slot.light, &slot.variance})
        *quads = DeviceBuffer<float4>(space_.size());
    check(cudaStreamSynchronize(stream_.get()));
  }
  ~CudaFeatureEngine() override { (void)cudaStreamSynchronize(stream_.get()); }

  void load(int at, const LightViews& views) override {
    Slot& slot = slots_[at];
    slot.regressors = views.regressors;
    load_quads(views.light, plan_.planes, slot.light);
    load_quads(views.variance, plan_.planes, slot.variance);
    for (int i = 0; i < cuda::regressor_quads(filled_up(views.regressors)); ++i)
      load_quads(std::span(views.regressor).subspan(4 * i), std::min(views.regressors - 4 * i, 4),
                 slot.quads[i]);
    for (int i = 0; i < views.regressors; ++i) load_noise(views.regressor_noise[i], slot.noise[i]);
    check(cudaStreamSynchronize(stream_.get()));
  }

  void estimate(std::span<const CandidateFrame> frames,
                const std::array<PlaneView<float>, 3>& results) override {
    const Slot& wanted = slots_[frames[0].slot];
    cuda::LightJob job{.space = space_, .channels = plan_.planes};
    job.regressors = filled_up(wanted.regressors);
    job.displacements = static_cast<int>(window_.size()) - 1;
    job.displacement = window_.get();
    job.cell = plan_.cell;
    job.cell_columns = plan_.cell_columns();
    job.sources = static_cast<int>(frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      job.source[i] = planes_of(slots_[frames[i].slot]);
      job.source[i].motion = put_motion(i, frames[i].motion);
    }
    for (int i = 0; i < max_regressors; ++i)
      job.noise[i] = i < wanted.regressors ? wanted.noise[i].get() : zeros_.get();
    job.colour = colour_.pointers();
    job.guided = guided_.pointers();
    std::array<float*, 3> to{};
    for (int c = 0; c < plan_.planes; ++c) to[c] = results_[c].get();
    cuda::filter_light(job, stream_.get());
    cuda::blend_light(job, cost_.get(), share_.get(), to, stream_.get());
    for (int c = 0; c < plan_.planes; ++c)
      staging_.download(to[c], row_bytes(), bytes_of(results[c]), stream_.get());
    check(cudaStreamSynchronize(stream_.get()));
  }

 private:
  struct Slot {
    DeviceBuffer<float4> light, variance;
    int regressors = 0;
    std::array<DeviceBuffer<float4>, cuda::max_quads> quads;
    std::array<DeviceBuffer<float>, max_regressors> noise;
  };
  struct Candidate {
    std::array<DeviceBuffer<float>, 3> value, derivative;
    cuda::DeviceCandidate pointers() const {
      cuda::DeviceCandidate p;
      for (int c = 0; c < 3; ++c)
        p.value[c] = value[c].get(), p.derivative[c] = derivative[c].get();
      return p;
    }
  };

  std::size_t plane_size() const { return static_cast<std::size_t>(plan_.width) * plan_.height; }
  std::size_t row_bytes() const { return plan_.width * sizeof(float); }

  /// Uploads a plane to raw_[i], and returns its device address.
  const float* uploaded(PlaneView<const float> from, int i) {
    staging_.upload(bytes_of(from), raw_[i].get(), Margins::flat_pitch(plan_.width) * sizeof(float),
                    stream_.get());
    return raw_[i].get();
  }

  void load_noise(PlaneView<const float> from, DeviceBuffer<float>& to) {
    if (!to) to = DeviceBuffer<float>(plane_size());
    staging_.upload(bytes_of(from), to.get(), row_bytes(), stream_.get());
  }

  /// Uploads the first `count` <= 4 planes, and interleaves them to four floats per pixel.
  void load_quads(std::span<const PlaneView<const float>> from, int count,
                  DeviceBuffer<float4>& to) {
    if (!to) to = DeviceBuffer<float4>(space_.size());
    cuda::FourPlanes planes{};
    for (int i = 0; i < count; ++i) planes[i] = uploaded(from[i], i);
    cuda::pack_planes(planes, space_, to.get(), stream_.get());
  }

  cuda::DeviceLight planes_of(const Slot& slot) const {
    cuda::DeviceLight light{.light = slot.light.get(), .variance = slot.variance.get()};
    for (int i = 0; i < cuda::max_quads; ++i) light.regressors[i] = slot.quads[i].get();
    return light;
  }

  const Motion* put_motion(std::size_t frame, std::span<const Motion> motion) {
    if (motion.empty()) return nullptr;
    if (motion_[frame].size() < motion.size()) motion_[frame] = DeviceBuffer<Motion>(motion.size());
    check(cudaMemcpyAsync(motion_[frame].get(), motion.data(), motion.size_bytes(),
                          cudaMemcpyHostToDevice, stream_.get()));
    return motion_[frame].get();
  }

  FeaturePlan plan_;
  lull::cuda::Stream stream_;
  cuda::Space space_;
  std::vector<Slot> slots_;
  DeviceBuffer<cuda::DeviceDisplacement> window_;
  std::array<DeviceBuffer<float>, 4> raw_;  // uploaded planes
  DeviceBuffer<float> cost_, share_, zeros_;
  Candidate colour_, guided_;
  std::array<DeviceBuffer<float>, 3> results_;
  std::array<DeviceBuffer<Motion>, max_frames> motion_;
  lull::cuda::Staging staging_;
};

}  // namespace

std::unique_ptr<FeatureEngine> make_cuda_feature_engine(const FeaturePlan& plan) {
  return std::make_unique<CudaFeatureEngine>(plan);
}

}  // namespace lull::nlm
