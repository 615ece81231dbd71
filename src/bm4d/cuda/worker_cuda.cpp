// Three streams: one brings slices, as samples and as planes of floats, one computes, and one takes
// results away. Each batch of layers is queued as a few launches over all its slices, and the host
// waits for results alone: those of a batch are on their way while it brings the next one. What
// slices are written to is used again when the results of a batch before are there.

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "bm4d/cuda/kernels.h"
#include "bm4d/cuda/worker.h"
#include "bm4d/propagation.h"
#include "cuda/check.h"
#include "cuda/handles.h"
#include "cuda/nvtx.h"
#include "cuda/raw_frame.h"
#include "cuda/results/result_frames.h"

namespace lull::bm4d {
namespace {

using lull::cuda::check;
using namespace bm4d::cuda;

/// A ring of slices and its memory.
template <class T>
class Slices {
 public:
  Slices() = default;
  /// Kernels read what lies around the picture, too, for nobody: all bytes are `fill`.
  Slices(int depth, std::size_t slice, cudaStream_t stream, int fill = 0)
      : memory_(depth * slice), ring_{memory_.get(), slice, depth} {
    if (memory_) check(cudaMemsetAsync(memory_.get(), fill, memory_.bytes(), stream));
  }
  const Ring<T>& ring() const { return ring_; }
  T* at(int z) const { return ring_.at(z); }
  void clear(SliceSpan slices, cudaStream_t stream) {
    for (int z = slices.first; z < slices.end;) {  // up to the end of the ring, then from its start
      const int run = std::min(slices.end - z, ring_.depth - z % ring_.depth);
      check(cudaMemsetAsync(at(z), 0, run * ring_.slice * sizeof(T), stream));
      z += run;
    }
  }

 private:
  lull::cuda::DeviceBuffer<T> memory_;
  Ring<T> ring_;
};

/// How many slices and layers are in work at a time.
struct Extent {
  int layers;    // filtered together
  int batch;     // slices that come between two batches
  int noisy;     // slices from the oldest that is not finished
  int phase[2];  // those that a phase looks at and adds to

  Extent(const Params& p, const FrameFormat& format) {
    // Few layers of small slices would leave a GPU with too little to do.
    const double cubes = 1.0 * format.width * format.height / (p.hard.step * p.hard.step);
    layers = cubes < 10000 ? most_layers : cubes < 20000 ? 8 : 4;
    batch = layers * p.hard.step;
    const auto own = [](const PhaseParams& q) { return 2 * q.radius() + 2 * q.cube; };
    phase[0] = own(p.hard) + batch;
    phase[1] = own(p.wiener) + layers * p.wiener.step + batch;
    // And those of the batch that comes meanwhile.
    noisy = margin(p).after + 2 * batch + layers * p.wiener.step + 2 * max_cube;
  }
};

/// What a phase keeps of slices.
struct PhaseMemory {
  PhaseMemory(const PhaseParams& p, bool searches, const Margins& margins, int depth,
              cudaStream_t stream)
      : params(p),
        guide(depth, margins.size(), stream),
        half_norms(searches ? depth : 0, margins.size(), stream, 0x3f),  // nearly no_patch
        numerator(depth, margins.size(), stream),
        weights(depth, margins.size(), stream),
        columns(reference_count(margins.width, p.step, p.cube)),
        rows(reference_count(margins.height, p.step, p.cube)) {}

  std::size_t members_of_layer() const {
    return static_cast<std::size_t>(columns) * rows * params.group;
  }
  Guide guides() const { return {guide.ring(), half_norms.ring()}; }
  VolumeSums sums() const { return {numerator.ring(), weights.ring()}; }

  PhaseParams params;
  Slices<std::uint8_t> guide;
  Slices<std::int32_t> half_norms;  // where it searches
  Slices<Sum> numerator;
  Slices<std::uint32_t> weights;
  int columns, rows;
  FilterPlan filter;
  int cleared = 0;  // sums of slices before it are ready to be added to
  int guided = 0;   // of the first phase: there are guides of slices before it
  int normed = 0;   // and norms of cubes that begin before it
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

/// A plane with noise, whose samples of all slices are a volume.
class PlaneVolume {
 public:
  PlaneVolume(const PlanePlan& plan, const FrameFormat& format, const Extent& extent,
              cudaStream_t stream)
      : plan_(plan.volume),
        plane_(plan.plane),
        margins_(plan.volume.width, plan.volume.height,
                 std::max(plan_.params.hard.window, plan_.params.wiener.window), 2 * max_cube),
        picture_(margins_),
        noisy_(extent.noisy, margins_.size(), stream),
        result_(2 * extent.batch, margins_.size(), stream),
        kept_layers_(plan_.params, extent.layers) {
    for (int i = 0; i < plan_.params.phases; ++i) {
      const Phase phase = i == 0 ? Phase::first : Phase::second;
      phases_.push_back(std::make_unique<PhaseMemory>(plan_.phase(phase),
                                                      i == 0 || !plan_.params.ranks_anew(),
                                                      margins_, extent.phase[i], stream));
      phases_[i]->filter = plan_filter(plan_, phase);
    }
    if (plan_.params.phases == 2) basic_ = Slices<float>(extent.phase[1], margins_.size(), stream);
    if (plan_.params.ranks_anew())
      kept_ = lull::cuda::DeviceBuffer<std::uint32_t>(kept_layers_.depth() *
                                                      phases_[0]->members_of_layer());
    picture_.width = format.plane_width(plane_);
    picture_.height = format.plane_height(plane_);
  }

  int plane() const { return plane_; }
  /// Those of the samples that are there, without what continues short axes.
  const Margins& picture() const { return picture_; }
  float* noisy(int z) const { return noisy_.at(z); }
  const float* result(int z) const { return result_.at(z); }
  std::size_t members(const Extent& extent) const {
    std::size_t most = 0;
    // Those of the first phase are elsewhere where they are kept.
    for (std::size_t i = kept_ ? 1 : 0; i < phases_.size(); ++i)
      most = std::max(most, layers_at_once(*phases_[i], extent) * phases_[i]->members_of_layer());
    return most;
  }

  void begin(int z) {
    first_ = z;
    kept_layers_.begin();
    for (const auto& phase : phases_) phase->cleared = phase->guided = phase->normed = z;
  }

  /// Slice `z` has the samples that are there.
  void load(int z, cudaStream_t stream) const {
    if (picture_.width < margins_.width || picture_.height < margins_.height)
      continue_plane(noisy(z), margins_, picture_.width, picture_.height, stream);
  }

  void filter(const Layers& layers, const Extent& extent, std::uint32_t* groups,
              cudaStream_t stream) {
    PhaseMemory& memory = of(layers.phase);
    prepare(layers.phase, layers.there.end, stream);
    const bool first = layers.phase == Phase::first, ranks_anew = plan_.params.ranks_anew();
    if (first || !ranks_anew) make_norms(memory, layers, stream);
    const auto at_once = static_cast<int>(layers_at_once(memory, extent));
    for (int k = 0; k < layers.count;) {
      ReferenceCubes cubes{.params = memory.params,
                           .z = layers.z + k * memory.params.step,
                           .layers = std::min(at_once, layers.count - k),
                           .there = layers.there,
                           .columns = memory.columns,
                           .rows = memory.rows};
      std::uint32_t* const found = first && ranks_anew ? room_for(cubes) : groups;
      if (first || !ranks_anew)
        find_groups(memory.guides(), margins_, cubes, found, stream);
      else
        rank_groups(memory.guide.ring(), margins_, cubes, lists_for(cubes), found, stream);
      filter_groups(memory.filter, noisy_.ring(), basic_.ring(), margins_, cubes, found,
                    memory.sums(), stream);
      k += cubes.layers;
    }
  }

  void finish_basic(SliceSpan slices, cudaStream_t stream) {
    prepare(Phase::first, slices.end, stream);
    divide(Phase::first, slices, basic_.ring(), &of(Phase::second).guide.ring(), stream);
  }

  void finish(SliceSpan slices, cudaStream_t stream) {
    const Phase last = plan_.params.phases == 1 ? Phase::first : Phase::second;
    prepare(last, slices.end, stream);
    divide(last, slices, result_.ring(), nullptr, stream);
  }

 private:
  PhaseMemory& of(Phase phase) { return *phases_[phase == Phase::first ? 0 : 1]; }

  void make_norms(PhaseMemory& memory, const Layers& layers, cudaStream_t stream) const {
    // Of layers that were left out nobody asks: their slices may be out of the ring by now.
    const SliceSpan fresh{std::max(memory.normed, layers.z - memory.params.radius()),
                          layers.there.end - memory.params.cube + 1};
    if (fresh.size() > 0)
      make_half_norms(memory.guides(), fresh, margins_, memory.params.cube, stream);
    memory.normed = std::max(memory.normed, fresh.end);
  }

  /// Where the groups of these layers are kept, of fewer of them where the room ends.
  std::uint32_t* room_for(ReferenceCubes& cubes) {
    const int place = kept_layers_.add(cubes.z);
    cubes.layers = std::min(cubes.layers, kept_layers_.depth() - place);
    for (int k = 1; k < cubes.layers; ++k) kept_layers_.add(cubes.z + k * cubes.params.step);
    return kept_.get() + place * phases_[0]->members_of_layer();
  }

  /// What layers of the second phase look at.
  KeptLists lists_for(const ReferenceCubes& cubes) const {
    const PhaseMemory& first = *phases_[0];
    KeptLists lists{kept_.get(), first.params, first.columns, first.rows};
    for (int k = 0; k < cubes.layers; ++k) {
      const auto around = kept_layers_.around(cubes.z + k * cubes.params.step);
      std::copy(around.begin(), around.end(), lists.around[k]);
    }
    return lists;
  }

  /// Layers of which there are groups at a time: of large slices fewer, so that these need no more
  /// memory than the slices do.
  static std::size_t layers_at_once(const PhaseMemory& memory, const Extent& extent) {
    constexpr std::size_t most = std::size_t{1} << 25;  // members
    return std::clamp<std::size_t>(most / memory.members_of_layer() / 4 * 4, 1, extent.layers);
  }

  /// Slices up to `end` that a phase can look at and add to.
  void prepare(Phase phase, int end, cudaStream_t stream) {
    PhaseMemory& memory = of(phase);
    if (memory.cleared < end) {
      const SliceSpan fresh{std::exchange(memory.cleared, end), end};
      memory.numerator.clear(fresh, stream);
      memory.weights.clear(fresh, stream);
    }
    if (phase == Phase::first && memory.guided < end)
      make_guide(noisy_.ring(), {std::exchange(memory.guided, end), end}, margins_,
                 byte_scale(plan_.sigma), memory.guide.ring(), stream);
  }

  void divide(Phase phase, SliceSpan slices, const Ring<float>& estimate,
              const Ring<std::uint8_t>* bytes, cudaStream_t stream) {
    const PhaseMemory& memory = of(phase);
    finish_slices(memory.sums(), slices, first_, noisy_.ring(), margins_, memory.filter.cube,
                  memory.filter.window, estimate, bytes, byte_scale(plan_.sigma), stream);
  }

  VolumePlan plan_;
  int plane_;
  Margins margins_, picture_;
  int first_ = 0;  // slice that was loaded first
  Slices<float> noisy_, basic_, result_;
  std::vector<std::unique_ptr<PhaseMemory>> phases_;
  KeptLayers kept_layers_;                        // where the second phase does not search
  lull::cuda::DeviceBuffer<std::uint32_t> kept_;  // their groups
};

class CudaWorker final : public VolumeWorker {
 public:
  CudaWorker(const Params& params, const FrameFormat& format, bool results_on_device)
      : format_(planes_alone(format)),
        extent_(params, format),
        bringing_(lull::cuda::make_stream(lull::cuda::Priority::high)),
        computing_(lull::cuda::make_stream()),
        taking_(lull::cuda::make_stream()),
        in_(format_, computing_.get(), params.noise.levels_in_samples()),
        out_(format_, computing_.get(), params.noise.levels_in_samples()),
        pool_(format, results_on_device),
        brought_(lull::cuda::make_event()),
        computed_(lull::cuda::make_event()) {
    std::size_t members = 0;
    for (const PlanePlan& plan : plan_planes(params, format)) {
      volumes_.push_back(std::make_unique<PlaneVolume>(plan, format_, extent_, computing_.get()));
      members = std::max(members, volumes_.back()->members(extent_));
      passes_[plan.plane] = false;
    }
    groups_ = lull::cuda::DeviceBuffer<std::uint32_t>(members);
    for (int i = 0; i < format_.planes(); ++i)
      if (keeps_original(i))
        original_[i] = Slices<std::byte>(extent_.noisy, in_.plane_bytes(i), computing_.get());
    pool_.reserve(extent_.batch);
    check(cudaStreamSynchronize(computing_.get()));
  }

  ~CudaWorker() override { wait_for_all(); }

  void begin(int z) override {
    wait_for_all();  // what is written now may be in use by the volume before
    loaded_ = z;
    written_.clear();
    for (auto& volume : volumes_) volume->begin(z);
  }

  void load(int z, const Frame& slice) override {
    const lull::cuda::NvtxRange range("bring a slice");
    // Where this slice goes is another one: its result has to be there.
    for (const Written& written : written_)
      if (written.end > z - extent_.noisy && written.first <= z - extent_.noisy)
        check(cudaStreamWaitEvent(bringing_.get(), written.there.get()));
    in_.bring(slice, bringing_.get());
    std::array<const Margins*, max_planes> margins{};
    std::array<float*, max_planes> planes{};
    for (const auto& volume : volumes_)
      margins[volume->plane()] = &volume->picture(), planes[volume->plane()] = volume->noisy(z);
    in_.to_planes(margins, planes, bringing_.get());
    for (const auto& volume : volumes_) volume->load(z, bringing_.get());
    for (int i = 0; i < format_.planes(); ++i)
      if (keeps_original(i))
        check(cudaMemcpyAsync(original_[i].at(z), in_.planes().data[i], in_.plane_bytes(i),
                              cudaMemcpyDeviceToDevice, bringing_.get()));
    loaded_ = z + 1;
  }

  void filter(const Layers& layers) override {
    const lull::cuda::NvtxRange range(layers.phase == Phase::first ? "first phase"
                                                                   : "second phase");
    wait_for_slices();
    for (auto& volume : volumes_) volume->filter(layers, extent_, groups_.get(), computing_.get());
  }

  void finish_basic(SliceSpan slices) override {
    wait_for_slices();
    for (auto& volume : volumes_) volume->finish_basic(slices, computing_.get());
  }

  Frame acquire() override { return pool_.acquire(); }

  void finish(int z, std::span<const Frame>, std::span<const Frame> clean) override {
    const lull::cuda::NvtxRange range("take results away");
    wait_for_slices();
    const SliceSpan slices{z, z + static_cast<int>(clean.size())};
    // The memory for results holds those of two batches.
    for (const Written& written : written_)
      if (written.end > slices.first - 2 * extent_.batch &&
          written.first < slices.end - 2 * extent_.batch)
        check(cudaStreamWaitEvent(computing_.get(), written.there.get()));
    for (auto& volume : volumes_) volume->finish(slices, computing_.get());
    check(cudaEventRecord(computed_.get(), computing_.get()));
    check(cudaStreamWaitEvent(taking_.get(), computed_.get()));
    for (int k = 0; k < slices.size(); ++k) take(z + k, clean[k]);
    written_.push_back({slices.first, slices.end, slices.size(), lull::cuda::make_event()});
    check(cudaEventRecord(written_.back().there.get(), taking_.get()));
    while (written_.size() > 1 && written_.front().waiting == 0 &&
           written_.front().end <= loaded_ - extent_.noisy - extent_.batch)
      written_.pop_front();
  }

  void await() override {
    for (Written& written : written_)
      if (written.waiting > 0) {
        --written.waiting;
        return check(cudaEventSynchronize(written.there.get()));
      }
  }

  int in_flight() const noexcept override { return extent_.batch; }
  int layers_at_a_time() const noexcept override { return extent_.layers; }

 private:
  /// Slices whose results are on their way.
  struct Written {
    int first, end;
    int waiting;  // results that nobody waited for
    lull::cuda::Event there;
  };

  void wait_for_all() {
    for (const auto* stream : {&bringing_, &computing_, &taking_})
      (void)cudaStreamSynchronize(stream->get());
  }

  /// What is computed from now on may see all slices that were loaded.
  void wait_for_slices() {
    check(cudaEventRecord(brought_.get(), bringing_.get()));
    check(cudaStreamWaitEvent(computing_.get(), brought_.get()));
  }

  void take(int z, const Frame& clean) {
    for (const auto& volume : volumes_)
      out_.from_plane(volume->plane(), volume->picture(), volume->result(z), taking_.get());
    if (format_.sample == SampleType::f32) {
      RawPlanes original = out_.planes();
      for (const auto& volume : volumes_)
        original.data[volume->plane()] = original_[volume->plane()].at(z);
      out_.restore(original, taking_.get());
    }
    for (const auto& volume : volumes_) out_.take(volume->plane(), clean, taking_.get());
    for (int i = 0; i < format_.planes(); ++i) {
      if (!passes_[i]) continue;
      const PlaneView<std::byte>& to = clean.planes[i];
      check(cudaMemcpy2DAsync(to.data, to.stride, original_[i].at(z), in_.planes().pitch[i],
                              to.width, to.height, cudaMemcpyDefault, taking_.get()));
    }
  }

  bool keeps_original(int i) const { return passes_[i] || format_.sample == SampleType::f32; }

  FrameFormat format_;
  Extent extent_;
  lull::cuda::Stream bringing_, computing_, taking_;
  RawFrame in_, out_;
  lull::cuda::ResultFrames pool_;
  lull::cuda::Event brought_, computed_;
  std::vector<std::unique_ptr<PlaneVolume>> volumes_;
  std::array<bool, max_planes> passes_{true, true, true};  // of planes: without noise
  // As they came: planes of floats, and those that pass through.
  std::array<Slices<std::byte>, max_planes> original_;
  lull::cuda::DeviceBuffer<std::uint32_t> groups_;
  std::deque<Written> written_;
  int loaded_ = 0;  // slices before it are
};

}  // namespace

std::unique_ptr<VolumeWorker> make_cuda_worker(const Params& params, const FrameFormat& format,
                                               bool results_on_device) {
  return std::make_unique<CudaWorker>(params, format, results_on_device);
}

}  // namespace lull::bm4d
