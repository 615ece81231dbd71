#pragma once
// Sets of planes behind the first: chroma's. They depend on the first set's estimates of the phase
// before alone, so that they are worked on beside it, on a stream and with scratch memory of their
// own: chroma's kernels are small, and by themselves would leave much of a GPU idle.

#include <algorithm>
#include <memory>

#include "bm3d/cuda/phases.h"
#include "cuda/check.h"
#include "cuda/handles.h"

namespace lull::bm3d {

class SideSets {
 public:
  /// Null where there are none, or where scratch memory is large: with clusters, and the DFT.
  /// @throws DeviceUnavailable, OutOfDeviceMemory
  [[nodiscard]] static std::unique_ptr<SideSets> make(const Params& params,
                                                      const FrameFormat& format,
                                                      const CudaPhases& phases,
                                                      cuda::MatcherFactory make_matcher) {
    const bool is_large = params.hard.clusters || params.wiener.clusters ||
                          params.hard.transform == Transform::dft ||
                          params.wiener.transform == Transform::dft;
    bool any = false;
    for (int k = 0; k < known_plans(params); ++k)
      any = any || phases.sets(static_cast<Phase>(k)).size() > 1;
    if (is_large || !any) return nullptr;
    return std::unique_ptr<SideSets>(new SideSets(params, format, make_matcher));
  }
  ~SideSets() { (void)cudaStreamSynchronize(stream_.get()); }

  CudaPhases& phases() { return phases_; }
  /// What is queued here from now on waits for what is queued on `main`.
  void begin(cudaStream_t main) { follow(main, begun_.get(), stream_.get()); }
  /// What is queued on `main` from now on waits for what is queued here.
  void end(cudaStream_t main) { follow(stream_.get(), ended_.get(), main); }

 private:
  SideSets(const Params& params, const FrameFormat& format, cuda::MatcherFactory make_matcher)
      : stream_(cuda::make_stream()),
        begun_(cuda::make_event()),
        ended_(cuda::make_event()),
        phases_(params, format, stream_.get(), make_matcher) {}

  static void follow(cudaStream_t first, cudaEvent_t event, cudaStream_t second) {
    cuda::check(cudaEventRecord(event, first));
    cuda::check(cudaStreamWaitEvent(second, event));
  }

  cuda::Stream stream_;
  cuda::Event begun_, ended_;
  CudaPhases phases_;
};

/// Begins beside `main` what `use` queues with the phases of each set or plane, and waits for it
/// there: use(phases_of), which gives those for a set by its number or a plane by its number.
template <class Use>
void beside(const std::unique_ptr<SideSets>& side, CudaPhases& phases, cudaStream_t main, Use use) {
  if (!side) return use([&](std::size_t) -> CudaPhases& { return phases; });
  side->begin(main);
  use([&](std::size_t n) -> CudaPhases& { return n == 0 ? phases : side->phases(); });
  side->end(main);
}

}  // namespace lull::bm3d
