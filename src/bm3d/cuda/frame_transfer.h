#pragma once
// The part of a GPU worker that does not depend on the filter: upload, conversion and comparison of
// frames, motion estimation (time/device_motion.h), and download of results.

// FrameTransfer uses three CUDA streams: one for uploads and statistics, one for the filter, and
// one for downloads. The stream for uploads and statistics has a high priority, because the host
// waits for the statistics.

#include <array>
#include <memory>
#include <vector>

#include "bm3d/params.h"
#include "core/frame.h"
#include "cuda/raw_frame.h"
#include "cuda/results/result_frames.h"
#include "match/cuda/guide_frame.h"
#include "time/device_motion.h"

namespace lull::bm3d {

class FrameTransfer {
 public:
  using PlaneMargins = std::array<Margins, max_planes>;

  /// `slots` is the number of slots of the session (time/frame_session.h).
  /// @throws DeviceUnavailable, OutOfDeviceMemory
  FrameTransfer(const Params& params, const FrameFormat& format, const ResultSamples& results,
                bool results_on_device, int slots);

  cudaStream_t stream() const { return compute_stream_.get(); }
  DeviceMotion& motion() { return motion_; }
  const DeviceMotion& motion() const { return motion_; }
  /// Waits until all queued work is complete. The owner must call this function before it releases
  /// memory.
  void wait() noexcept;

  // These functions do the work of FrameWorker's functions (time/frame_session.h).
  // FrameWorker::load() calls load() and loaded() of this class. FrameWorker::finish() calls
  // next_output(), convert() and finish(). Every other function has the name of the FrameWorker
  // function that calls it.
  void take(const Frame& frame);
  FrameDifference difference();
  /// Queues the conversion of the last accepted frame to float planes in the layout `margins`. In
  /// guided sessions, also queues the conversion of its Frame::guide to `guide_planes`. Prepares
  /// the motion search of the frame in `slot`.
  void load(int slot, const PlaneMargins& margins, const std::array<float*, max_planes>& planes,
            const std::array<float*, max_planes>& guide_planes = {});
  const Frame& last_frame() const { return last_frame_; }
  /// Waits for the upload of the last accepted frame, and releases the frame.
  void loaded();
  /// Returns the next result buffer. The caller must fill this buffer on stream(), and then call
  /// finish().
  RawFrame& next_output();
  /// Queues the conversion of the filtered planes to the samples of next_output().
  void convert(const PlaneMargins& margins, const Planes& planes, RawFrame& to);
  /// Returns the result of the frame in slot `slot`. The buffer of next_output() contains the
  /// samples of the result.
  Frame finish(int slot);
  int in_flight() const noexcept { return max_results - 1; }
  void await();

 private:
  // Number of result buffers: one for each result in flight, and one for the next result.
  static constexpr int max_results = 3;
  using Curves = std::array<CurvePair, max_planes>;
  struct Input {
    RawFrame raw;
    GuideFrame guide;
    cuda::Event uploaded = cuda::make_event(), consumed = cuda::make_event();
    Input(const Params& params, const FrameFormat& format, cudaStream_t stream,
          const std::array<float, 3>& sigma, const Curves& curves, const ResultSamples& results);
  };
  struct Output {
    RawFrame raw;
    cuda::Event ready = cuda::make_event(), downloaded = cuda::make_event();
    Output(const FrameFormat& format, cudaStream_t stream, const std::array<float, 3>& sigma,
           const Curves& curves, const ResultSamples& results);
  };

  /// Returns true if the filter changes the samples of the plane.
  bool changes(int plane) const;
  void copy_unfiltered_planes(int slot);
  RawPlanes original(int slot) const;
  void store_original(const RawFrame& raw, int slot);

  Params params_;
  FrameFormat format_;
  cuda::Stream compute_stream_, upload_stream_, download_stream_;
  cuda::ResultFrames pool_;
  std::array<float, 3> levels_;  // standard deviation of the noise in the stored samples
  Frame last_frame_;
  std::array<std::unique_ptr<Input>, 2> inputs_;
  int last_input_ = 0;  // index in inputs_ of the frame that was accepted last
  std::array<std::unique_ptr<Output>, max_results> outputs_;
  int finished_ = 0, awaited_ = 0;  // number of results so far
  std::vector<Frame> clean_;        // for each slot, the planes that are not filtered
  std::array<PlaneRing<std::byte>, max_planes> original_;  // uploaded float samples
  DeviceMotion motion_;
};

}  // namespace lull::bm3d
