#pragma once
// Everything that one frame needs on a GPU, from its upload to its download, where frames are
// filtered each for itself: planned once, used for every frame. Made and used while its device is
// current.

#include <array>
#include <memory>
#include <optional>

#include "bm3d/cuda/phases.h"
#include "bm3d/cuda/side_sets.h"
#include "core/frame.h"
#include "cuda/handles.h"
#include "cuda/raw_frame.h"
#include "match/cuda/guide_frame.h"

namespace lull::bm3d {

class CudaSlot {
 public:
  /// `params.temporal` is 0. @throws DeviceUnavailable, OutOfDeviceMemory
  CudaSlot(const Params& params, const FrameFormat& format,
           cuda::MatcherFactory make_matcher = cuda::make_matcher);
  /// Waits for the frame in flight: its buffers must not go before.
  ~CudaSlot();

  /// Begins a frame: upload, kernels and download are queued, nothing is waited for. The slot must
  /// be free. Samples of `clean` are written later.
  void start(Frame noisy, Frame clean);
  /// Waits for the frame in flight and gives it; nullopt if there is none.
  std::optional<Frame> finish();

  // The parts of start(), for benchmarks.
  void upload(const Frame& noisy);
  void filter();
  void download(const Frame& noisy, Frame& clean);
  cudaStream_t stream() const noexcept { return stream_.get(); }

 private:
  using PlaneBuffers = std::array<cuda::DeviceBuffer<float>, max_planes>;
  /// Used by one set of planes after the other.
  struct Scratch {
    cuda::DeviceBuffer<std::uint8_t> guide_samples;
    cuda::DeviceBuffer<std::int32_t> half_norms;
    std::array<cuda::DeviceBuffer<unsigned long long>, max_planes> numerators;
    std::array<cuda::DeviceBuffer<std::uint32_t>, max_planes> denominators;
  };

  void plan_buffers();
  void bring_guide(const Frame& noisy);
  void to_planes();  // raw_ to noisy_
  void to_planes(const RawFrame& raw, const PlaneBuffers& to);
  void to_samples();                                    // the result to raw_
  void take_samples(const Frame& noisy, Frame& clean);  // from raw_
  void bring_holes(const Frame& noisy);                 // to barred_
  void run_kernels();                                   // of a frame, all of them
  void run_phase(Phase phase, const PlaneBuffers& estimates);
  void run_set(Phase phase, const PlaneSet& set, CudaPhases& phases, const Scratch& scratch,
               const PlaneBuffers& estimates);

  Params params_;
  FrameFormat format_;
  cuda::Stream stream_;
  cuda::Event done_;
  CudaPhases phases_;
  std::unique_ptr<SideSets> side_;  // null: none
  RawFrame raw_;
  GuideFrame guide_frame_;
  PlaneBuffers noisy_, basic_, result_;
  PlaneBuffers shown_;              // of guided frames
  std::array<Scratch, 2> scratch_;  // for phases_, sized for the greatest plane; for side_
  // Where frames may have holes: which places are no candidates, and the norms with that in them.
  cuda::DeviceBuffer<std::uint8_t> barred_;
  cuda::DeviceBuffer<std::int32_t> candidate_norms_;
  // Of sets, by their first plane: groups for the second phase.
  std::array<cuda::DeviceBuffer<std::uint32_t>, max_planes> kept_displacements_;
  std::array<cuda::DeviceBuffer<std::uint8_t>, max_planes> kept_counts_;
  cuda::GraphExec kernels_;                           // run_kernels(), to be launched as one
  std::optional<Frame> noisy_in_flight_, in_flight_;  // the first is kept until its upload is over
};

}  // namespace lull::bm3d
