#pragma once
// What a session over frames on a GPU keeps of them to say what they are to each other: their main
// planes in 8 bits, and where things move from one to another. What decides about a frame is
// counted on the stream that brings frames, because the host waits for that; motion is found on the
// one that computes.

#include <array>
#include <span>

#include "cuda/device_planes.h"
#include "cuda/handles.h"
#include "cuda/pinned_memory.h"
#include "time/frame_session.h"
#include "time/kernels.h"

namespace lull {

/// Frames are in slots, as FrameWorker has them (frame_session.h).
class DeviceMotion {
 public:
  /// `sigma`: of the noise in samples as they are stored; 0 where planes pass through. The streams
  /// must outlive this, and be idle when it goes.
  /// @throws DeviceUnavailable, OutOfDeviceMemory
  DeviceMotion(const FrameFormat& format, const std::array<float, max_planes>& sigma, int slots,
               cudaStream_t bringing, cudaStream_t computing);

  /// How frames that were brought differ. Waits for the bringing stream.
  [[nodiscard]] FrameDifference difference(const RawPlanes& frame, const RawPlanes& before);
  /// Queues while a frame is brought: what prediction() takes of it. Its format may differ from the
  /// session's in the kind of samples, here and in load().
  void load_predicted(int slot, const RawPlanes& frame, const FrameFormat& format);
  /// What the frame in `slot` costs when it is predicted from that in `earlier`. Waits for the
  /// bringing stream.
  [[nodiscard]] PredictionCost prediction(int slot, int earlier);

  /// Queues on the computing stream: what find() takes of a frame.
  void load(int slot, const RawPlanes& frame, const FrameFormat& format);
  /// The same: the vectors of all cells from the first of `frames` to each of the others.
  void find(std::span<const SlotFrame> frames);
  /// Those from the frame in slot `from` to the one `offset` frames after it, on the device. Null:
  /// none moves, for the frames are too small.
  [[nodiscard]] const Motion* cells(int from, int offset) const {
    return is_predicted() && offset != 0 ? cells_at(from, offset) : nullptr;
  }

 private:
  /// What a kernel counted, for the host.
  template <class Counts>
  class Counted {
   public:
    Counted() : device_(1), host_(static_cast<Counts*>(pinned()->allocate(sizeof(Counts)))) {}
    ~Counted() { pinned()->deallocate(host_, sizeof(Counts)); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    Counts* on_device() const { return device_.get(); }
    /// Waits for the stream.
    const Counts& read(cudaStream_t stream) {
      cuda::check(
          cudaMemcpyAsync(host_, device_.get(), sizeof(Counts), cudaMemcpyDeviceToHost, stream));
      cuda::check(cudaStreamSynchronize(stream));
      return *host_;
    }

   private:
    static std::pmr::memory_resource* pinned() { return cuda::pinned_memory(); }
    cuda::DeviceBuffer<Counts> device_;
    Counts* host_;
  };

  bool is_predicted() const {
    return width_ / coarse >= prediction_block && height_ / coarse >= prediction_block;
  }
  MainBytes main_bytes(int slot) const { return {fine_.at(slot), coarse_.at(slot)}; }
  Motion* cells_at(int slot, int offset) const;

  FrameFormat format_;
  std::array<float, max_planes> sigma_;
  cudaStream_t bringing_, computing_;
  int width_, height_;  // of the main plane
  float main_sigma_;
  PlaneRing<std::uint8_t> fine_, coarse_;  // of the main plane, for motion
  PlaneRing<std::uint8_t> predicted_;      // as coarse_, but belongs to bringing_
  PlaneRing<Motion> motion_;               // [offset + max_temporal][cell]
  Counted<DifferenceCounts> difference_;
  Counted<PredictionCounts> prediction_;
};

}  // namespace lull
