#pragma once
// Compares the frames of a session in host memory, and finds the motion between them in 8-bit luma
// (or green) planes.

#include <vector>

#include "core/frame.h"
#include "core/plane.h"
#include "time/frame_relation.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull {

/// Motion estimation on the host. Frames are in slots, as in FrameWorker (frame_session.h).
class HostMotion {
 public:
  /// `main_sigma` is the noise level of the luma (or green) plane.
  HostMotion(const FrameFormat& format, float main_sigma, int slots);

  void load(int slot, const Frame& frame);
  /// Frees the data that only the motion search needs. The caller first requests all required
  /// motion vectors of the frame. prediction() still works with the frame.
  void release(int slot);
  /// Returns the cost of predicting the frame in slot `slot` from the frame in slot `earlier`.
  [[nodiscard]] PredictionCost prediction(int slot, int earlier) const;
  /// Returns the motion vectors, one for each motion block, from the frame in slot `from` to the
  /// frame in slot `to`. `offset` is the number of frames from `from` to `to`. The first call
  /// computes the vectors.
  [[nodiscard]] const std::vector<Motion>& cells(int from, int to, int offset);

 private:
  /// A plane with padding, because find_motion() reads beyond the end of planes.
  class BytePlane {
   public:
    BytePlane() = default;
    BytePlane(int width, int height) : plane_(width, height + 1), height_(height) {}
    PlaneView<std::uint8_t> view() {
      return {plane_.view().data, plane_.width(), height_, plane_.view().stride};
    }
    PlaneView<const std::uint8_t> view() const {
      return {plane_.view().data, plane_.width(), height_, plane_.view().stride};
    }

   private:
    Plane<std::uint8_t> plane_;
    int height_ = 0;
  };
  struct Slot {
    BytePlane bytes, coarse;  // `coarse`: downsampled; empty if too small
    ByOffset<std::vector<Motion>> cells;
    MainPlane main() const { return {bytes.view(), coarse.view()}; }
  };

  float main_sigma_;
  FrameFormat format_;
  std::vector<Slot> slots_;
  std::vector<BytePlane> free_;  // released planes, which are reused for later frames
};

}  // namespace lull
