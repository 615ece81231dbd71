#pragma once
// The chroma stream: a second CUDA stream for all sets of planes (PlaneSet) except the first.
// Kernels for chroma alone would leave a part of the GPU idle. Therefore, they run at the same time
// as the kernels for the first set.

#include <algorithm>
#include <memory>

#include "bm3d/cuda/phases.h"
#include "cuda/check.h"
#include "cuda/handles.h"

namespace lull::bm3d {

class ChromaLane {
 public:
  /// Makes a chroma stream. Returns null if the session uses linear combinations, clusters or the
  /// DFT, or if no phase has more than one set of planes. With clusters or the DFT, a second stream
  /// would need much additional scratch memory.
  [[nodiscard]] static std::unique_ptr<ChromaLane> make(const Params& params,
                                                        const FrameFormat& format,
                                                        const CudaPhases& phases,
                                                        cuda::MatcherFactory make_matcher) {
    const bool is_large = params.hard.clusters || params.wiener.clusters ||
                          params.hard.transform == Transform::dft ||
                          params.wiener.transform == Transform::dft;
    bool any = false;
    for (const Phase phase : all_phases) any = any || phases.sets(phase).size() > 1;
    if (is_large || !any || params.linear_combinations) return nullptr;
    return std::unique_ptr<ChromaLane>(new ChromaLane(params, format, make_matcher));
  }
  ~ChromaLane() { (void)cudaStreamSynchronize(stream_.get()); }

  CudaPhases& phases() { return phases_; }
  /// Makes later work on the chroma stream wait for all work that is now queued on the stream
  /// `main`.
  void fork(cudaStream_t main) { make_wait(main, main_done_.get(), stream_.get()); }
  /// Makes later work on the stream `main` wait for all work that is now queued on the chroma
  /// stream.
  void join(cudaStream_t main) { make_wait(stream_.get(), lane_done_.get(), main); }

 private:
  ChromaLane(const Params& params, const FrameFormat& format, cuda::MatcherFactory make_matcher)
      : stream_(cuda::make_stream()),
        main_done_(cuda::make_event()),
        lane_done_(cuda::make_event()),
        phases_(params, format, stream_.get(), make_matcher) {}

  static void make_wait(cudaStream_t first, cudaEvent_t event, cudaStream_t second) {
    cuda::check(cudaEventRecord(event, first));
    cuda::check(cudaStreamWaitEvent(second, event));
  }

  cuda::Stream stream_;
  cuda::Event main_done_, lane_done_;
  CudaPhases phases_;
};

/// Calls `use`, which queues GPU work for all sets of planes. The GPU processes set 0 on `main`,
/// and all other sets on the chroma stream. Later work on `main` waits for all sets.
/// @param lane  the chroma stream; if null, all sets use `main`
/// @param phases  the phases on `main`
/// @param use  a function use(phases_of); it queues the work of set n on the CudaPhases object that
///     phases_of(n) returns
template <class Use>
void run_concurrently(const std::unique_ptr<ChromaLane>& lane, CudaPhases& phases,
                      cudaStream_t main, Use use) {
  if (!lane) return use([&](std::size_t) -> CudaPhases& { return phases; });
  lane->fork(main);
  use([&](std::size_t n) -> CudaPhases& { return n == 0 ? phases : lane->phases(); });
  lane->join(main);
}

}  // namespace lull::bm3d
