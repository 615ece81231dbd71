// Keeps the slices of a plane in device memory and queues the kernels of each layer on a stream.
// The host waits for finished slices alone.

#include <algorithm>
#include <optional>

#include "bm4d/cuda/engine.h"
#include "bm4d/cuda/kernels.h"
#include "core/round_up.h"
#include "cuda/check.h"
#include "cuda/handles.h"

namespace lull::bm4d {
namespace {

using lull::cuda::check;
using namespace bm4d::cuda;

/// Fewer would leave a GPU with too little to do for small slices.
constexpr int layers_together = 4;

/// A ring of slices and its memory.
template <class T>
class Slices {
 public:
  Slices(int depth, const Space& space)
      : memory_(depth * space.slice()), ring_{memory_.get(), space.slice(), depth} {
    // Kernels read what lies between the rows, too, for nobody.
    check(cudaMemset(memory_.get(), 0, depth * space.slice() * sizeof(T)));
  }
  const Ring<T>& ring() const { return ring_; }
  T* at(int z) const { return ring_.at(z); }
  void clear(int z, cudaStream_t stream) {
    check(cudaMemsetAsync(at(z), 0, ring_.slice * sizeof(T), stream));
  }

 private:
  lull::cuda::DeviceBuffer<T> memory_;
  Ring<T> ring_;
};

/// What a phase keeps of slices: as the cpu backend's, and for several layers at a time.
struct PhaseMemory {
  PhaseMemory(const PhaseParams& p, const Space& space)
      : guide(depth(p), space),
        numerator(depth(p), space),
        weights(depth(p), space),
        columns(reference_count(space.width, p.step, p.cube)),
        rows(reference_count(space.height, p.step, p.cube)) {}

  static int depth(const PhaseParams& p) {
    return 2 * p.radius() + 2 * p.cube + layers_together * p.step;
  }

  std::size_t members_of_layer(const PhaseParams& p) const {
    return static_cast<std::size_t>(columns) * rows * p.group;
  }
  /// Layers of which there are groups at a time: of large slices fewer, so that these need no more
  /// memory than the slices do.
  static std::size_t layers_at_once(std::size_t members_of_layer) {
    constexpr std::size_t most = std::size_t{1} << 24;  // members
    return std::clamp<std::size_t>(most / members_of_layer, 1, layers_together);
  }

  Slices<std::uint8_t> guide;
  Slices<Sum> numerator, weights;
  int columns, rows;
  FilterPlan filter;
};

FilterPlan plan_filter(const VolumePlan& plan, Phase phase) {
  const bool first = phase == Phase::first;
  const Params& p = plan.params;
  FilterPlan filter{.wiener = !first, .cube = plan.phase(phase).cube};
  filter.limit = first ? p.lambda * plan.sigma : p.mu2 * plan.sigma * plan.sigma;
  filter.limit_mean = filter.limit * (first ? p.lambda_mean : p.mu2_mean);
  filter.window = kaiser_window(plan.phase(phase).kaiser, filter.cube);
  const AxisMatrix rows = dct_rows(filter.cube);
  for (int k = 0; k < max_cube; ++k)
    for (int i = 0; i < max_cube; ++i) filter.rows[k][i] = static_cast<float>(rows[k][i]);
  return filter;
}

class CudaEngine final : public VolumeEngine {
 public:
  CudaEngine(const VolumePlan& plan, int device)
      : plan_(plan),
        device_(device),
        scope_(device),
        space_{plan.width, plan.height, static_cast<int>(round_up(plan.width, 32))},
        stream_(lull::cuda::make_stream()),
        noisy_(noisy_depth(plan.params), space_),
        estimate_(space_.slice()) {
    std::size_t members = 0;
    for (int i = 0; i < plan.params.phases; ++i) {
      const Phase phase = i == 0 ? Phase::first : Phase::second;
      memory_[i].emplace(plan.phase(phase), space_);
      memory_[i]->filter = plan_filter(plan, phase);
      const std::size_t of_layer = memory_[i]->members_of_layer(plan.phase(phase));
      members = std::max(members, memory_[i]->layers_at_once(of_layer) * of_layer);
    }
    if (plan.params.phases == 2) basic_.emplace(PhaseMemory::depth(plan.params.wiener), space_);
    groups_ = lull::cuda::DeviceBuffer<std::uint32_t>(members);
    scope_.reset();
  }

  ~CudaEngine() override { (void)cudaStreamSynchronize(stream_.get()); }

  void begin(int z) override { first_ = z; }

  void load(int z, PlaneView<const float> samples) override {
    const lull::cuda::DeviceScope scope(device_);
    // From memory that is not page-locked: it may change as soon as this returns.
    check(cudaMemcpy2DAsync(noisy_.at(z), space_.pitch * sizeof(float), samples.data,
                            samples.stride * sizeof(float), space_.width * sizeof(float),
                            space_.height, cudaMemcpyHostToDevice, stream_.get()));
    prepare(Phase::first, z, noisy_.at(z));
  }

  void filter(const Layers& layers) override {
    const lull::cuda::DeviceScope scope(device_);
    PhaseMemory& memory = memory_of(layers.phase);
    const PhaseParams& params = plan_.phase(layers.phase);
    const auto at_once = static_cast<int>(memory.layers_at_once(memory.members_of_layer(params)));
    for (int k = 0; k < layers.count; k += at_once) {
      const ReferenceCubes cubes{.params = params,
                                 .z = layers.z + k * params.step,
                                 .layers = std::min(at_once, layers.count - k),
                                 .there = layers.there,
                                 .columns = memory.columns,
                                 .rows = memory.rows};
      find_groups(memory.guide.ring(), space_, cubes, groups_.get(), stream_.get());
      filter_groups(memory.filter, noisy_.ring(), basic_ ? basic_->ring() : Ring<float>{}, space_,
                    cubes, groups_.get(), memory.numerator.ring(), memory.weights.ring(),
                    stream_.get());
    }
  }

  void finish_basic(int z) override {
    const lull::cuda::DeviceScope scope(device_);
    divide(Phase::first, z, basic_->at(z));
    prepare(Phase::second, z, basic_->at(z));
  }

  void finish(int z, PlaneView<float> estimate) override {
    const lull::cuda::DeviceScope scope(device_);
    divide(plan_.params.phases == 1 ? Phase::first : Phase::second, z, estimate_.get());
    check(cudaMemcpy2DAsync(estimate.data, estimate.stride * sizeof(float), estimate_.get(),
                            space_.pitch * sizeof(float), space_.width * sizeof(float),
                            space_.height, cudaMemcpyDeviceToHost, stream_.get()));
    check(cudaStreamSynchronize(stream_.get()));
  }

  int layers_at_a_time() const override { return layers_together; }

 private:
  /// The device is current while members are made.
  class ConstructionScope {
   public:
    explicit ConstructionScope(int device) { scope_.emplace(device); }
    void reset() { scope_.reset(); }

   private:
    std::optional<lull::cuda::DeviceScope> scope_;
  };

  /// The slices that are not finished, and what comes of several layers at a time.
  static int noisy_depth(const Params& p) {
    return margin(p).after + layers_together * (p.hard.step + p.wiener.step) + 2 * max_cube;
  }

  PhaseMemory& memory_of(Phase phase) { return *memory_[phase == Phase::first ? 0 : 1]; }

  /// A slice that a phase can look at and add to.
  void prepare(Phase phase, int z, const float* guide) {
    PhaseMemory& memory = memory_of(phase);
    make_guide(guide, space_, byte_scale(plan_.sigma), memory.guide.at(z), stream_.get());
    memory.numerator.clear(z, stream_.get());
    memory.weights.clear(z, stream_.get());
  }

  void divide(Phase phase, int z, float* estimate) {
    PhaseMemory& memory = memory_of(phase);
    finish_slice(memory.numerator.ring(), memory.weights.ring(), z, first_, noisy_.ring(), space_,
                 memory.filter.cube, memory.filter.window, estimate, stream_.get());
  }

  VolumePlan plan_;
  int device_;
  ConstructionScope scope_;
  Space space_;
  lull::cuda::Stream stream_;
  int first_ = 0;  // slice that was loaded first
  Slices<float> noisy_;
  std::optional<Slices<float>> basic_;
  lull::cuda::DeviceBuffer<float> estimate_;
  lull::cuda::DeviceBuffer<std::uint32_t> groups_;
  std::array<std::optional<PhaseMemory>, 2> memory_;
};

}  // namespace

std::unique_ptr<VolumeEngine> make_cuda_engine(const VolumePlan& plan, int device) {
  return std::make_unique<CudaEngine>(plan, device);
}

}  // namespace lull::bm4d
