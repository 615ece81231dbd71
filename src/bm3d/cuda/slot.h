#pragma once
// All device memory and work of one frame, for sessions without temporal filtering. The device of a
// slot must be the current device of the calling thread.

#include <array>
#include <memory>
#include <optional>

#include "bm3d/cuda/chroma_lane.h"
#include "bm3d/cuda/phases.h"
#include "core/frame.h"
#include "cuda/handles.h"
#include "cuda/raw_frame.h"
#include "linear/cuda/filter.h"
#include "match/cuda/guide_frame.h"

namespace lull::bm3d {

class CudaSlot {
 public:
  /// `params.temporal` must be 0. `results` is the format of the results. Without a value, the
  /// results have the format of the frames.
  CudaSlot(const Params& params, const FrameFormat& format,
           cuda::MatcherFactory make_matcher = cuda::make_matcher,
           const std::optional<FrameFormat>& results = std::nullopt);
  /// Waits for the frame in flight.
  ~CudaSlot();

  /// Queues the upload, the kernels and the download of a frame, and returns before the GPU has
  /// finished this work. The slot must be free. The samples of the result `clean` are complete
  /// after finish().
  void start(Frame noisy, Frame clean);
  /// Waits for the frame in flight and returns its result. Returns nullopt if no frame is in
  /// flight.
  std::optional<Frame> finish();

  // The steps of start() as separate functions, for benchmarks.
  void upload(const Frame& noisy);
  void filter();
  void download(const Frame& noisy, Frame& clean);
  cudaStream_t stream() const noexcept { return stream_.get(); }

 private:
  using PlaneBuffers = std::array<cuda::DeviceBuffer<float>, max_planes>;
  /// Memory that the sets of planes (PlaneSet) use one after the other.
  struct Scratch {
    cuda::DeviceBuffer<std::uint8_t> guide_samples;
    cuda::DeviceBuffer<std::int32_t> half_norms;
    std::array<cuda::DeviceBuffer<unsigned long long>, max_planes> numerators;
    std::array<cuda::DeviceBuffer<std::uint32_t>, max_planes> denominators;
  };

  void plan_buffers();
  void upload_guide(const Frame& noisy);
  void to_planes();  // converts raw_ to noisy_
  void to_planes(const RawFrame& raw, const PlaneBuffers& to);
  void to_samples();                                        // converts the result to raw_
  void download_samples(const Frame& noisy, Frame& clean);  // copies the result from raw_
  void upload_holes(const Frame& noisy);                    // uploads to invalid_
  void run_kernels();                                       // queues all kernels of a frame
  void run_phase(Phase phase, const PlaneBuffers& estimates);
  void run_set(Phase phase, const PlaneSet& set, CudaPhases& phases, const Scratch& scratch,
               const PlaneBuffers& estimates);

  Params params_;
  FrameFormat format_;
  cuda::Stream stream_;
  cuda::Event done_;
  CudaPhases phases_;
  std::unique_ptr<ChromaLane> chroma_lane_;       // null if chroma has no stream of its own
  std::unique_ptr<linear::DeviceFilter> linear_;  // only for linear combinations of patches
  RawFrame raw_;
  GuideFrame guide_frame_;
  PlaneBuffers noisy_, basic_, result_;
  PlaneBuffers guide_planes_;  // guides that come with frames
  /// Scratch memory. phases_ uses element 0, which has the size of the largest plane. The chroma
  /// stream (chroma_lane.h) uses element 1.
  std::array<Scratch, 2> scratch_;
  // The memory of GuideBuffer::invalid and GuideBuffer::candidate_norms. For linear combinations,
  // `invalid_` marks the samples in holes. Empty if frames cannot have holes.
  cuda::DeviceBuffer<std::uint8_t> invalid_;
  cuda::DeviceBuffer<std::int32_t> candidate_norms_;
  // Groups that the first phase stores for the second phase. Element i contains the groups of the
  // set of planes (PlaneSet) that begins with plane i.
  std::array<cuda::DeviceBuffer<std::uint32_t>, max_planes> kept_displacements_;
  std::array<cuda::DeviceBuffer<std::uint8_t>, max_planes> kept_counts_;
  cuda::GraphExec kernels_;  // the work of run_kernels(), as one graph
  /// The input and the result of the frame in flight. The slot owns the input until the upload is
  /// complete.
  std::optional<Frame> noisy_in_flight_, in_flight_;
};

}  // namespace lull::bm3d
