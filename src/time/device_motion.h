#pragma once
// Compares frames, and searches for motion in 8-bit luma (or green) planes, on a GPU. Comparisons
// run on the upload stream, because the host waits for their results and must not wait for the
// filters on the compute stream.

#include <array>
#include <span>

#include "cuda/device_planes.h"
#include "cuda/handles.h"
#include "cuda/pinned_memory.h"
#include "time/frame_session.h"
#include "time/kernels.h"

namespace lull {

/// Motion estimation on a GPU. Frames are in slots, as in FrameWorker (frame_session.h).
class DeviceMotion {
 public:
  /// `sigma` contains the noise levels of the stored samples, and 0 for unfiltered planes. The
  /// streams must outlive the object, and be idle during its destruction.
  /// @throws DeviceUnavailable, OutOfDeviceMemory
  DeviceMotion(const FrameFormat& format, const std::array<float, max_planes>& sigma, int slots,
               cudaStream_t upload_stream, cudaStream_t computing);

  /// Returns the difference between two uploaded frames. Waits for the upload stream.
  [[nodiscard]] FrameDifference difference(const RawPlanes& frame, const RawPlanes& before);
  /// Queues the conversion of a frame to the downsampled plane for prediction(), on the upload
  /// stream. `format` may have another sample type than the session.
  void load_predicted(int slot, const RawPlanes& frame, const FrameFormat& format);
  /// Waits for the upload stream, and returns the cost of predicting the frame in slot `slot` from
  /// the frame in slot `earlier`.
  [[nodiscard]] PredictionCost prediction(int slot, int earlier);

  /// Queues the conversion of a frame to the 8-bit planes for find(), on the compute stream.
  /// `format` may have another sample type than the session.
  void load(int slot, const RawPlanes& frame, const FrameFormat& format);
  /// Queues the motion search from frames[0] to each other frame, on the compute stream.
  void find(std::span<const SlotFrame> frames);
  /// Returns the motion vectors from the frame in slot `from` to the frame at the temporal offset
  /// `offset`, in device memory. Returns null, which means that all vectors are 0, if `offset` is 0
  /// or the frames are too small for the search.
  [[nodiscard]] const Motion* cells(int from, int offset) const {
    return has_coarse_plane() && offset != 0 ? cells_at(from, offset) : nullptr;
  }

 private:
  /// Counters that a kernel writes, and their copy in host memory.
  template <class Counts>
  class Counted {
   public:
    Counted() : device_(1), host_(static_cast<Counts*>(pinned()->allocate(sizeof(Counts)))) {}
    ~Counted() { pinned()->deallocate(host_, sizeof(Counts)); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    Counts* on_device() const { return device_.get(); }
    /// Copies the counters to the host, and waits for the stream.
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

  bool has_coarse_plane() const {
    return width_ / coarse >= prediction_block && height_ / coarse >= prediction_block;
  }
  MainBytes main_bytes(int slot) const { return {fine_.at(slot), coarse_.at(slot)}; }
  Motion* cells_at(int slot, int offset) const;

  FrameFormat format_;
  std::array<float, max_planes> sigma_;
  cudaStream_t upload_stream_, compute_stream_;
  int width_, height_;  // size of the luma (or green) plane
  float main_sigma_;
  PlaneRing<std::uint8_t> fine_, coarse_;  // luma (or green) in 8 bits, for the search
  PlaneRing<std::uint8_t> predicted_;      // like `coarse_`, but used by `upload_stream_`
  PlaneRing<Motion> motion_;               // vectors: [offset + max_temporal][cell]
  Counted<DifferenceCounts> difference_;
  Counted<PredictionCounts> prediction_;
};

}  // namespace lull
