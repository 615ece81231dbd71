#pragma once
// What a session over frames in the host's memory keeps of them to say what they are to each other:
// their main planes in 8 bits, and where things move from one to another.

#include <vector>

#include "core/frame.h"
#include "core/plane.h"
#include "time/frame_relation.h"
#include "time/frames.h"
#include "time/motion.h"

namespace lull {

/// Frames are in slots, as FrameWorker has them (frame_session.h).
class HostMotion {
 public:
  /// `main_sigma`: of the noise in the main plane.
  HostMotion(const FrameFormat& format, float main_sigma, int slots);

  void load(int slot, const Frame& frame);
  /// What the frame in `slot` costs when it is predicted from that in `earlier`.
  [[nodiscard]] PredictionCost prediction(int slot, int earlier) const;
  /// The vectors of all cells from the frame in slot `from` to that in `to`, which is `offset`
  /// frames after it. They are looked for once.
  [[nodiscard]] const std::vector<Motion>& cells(int from, int to, int offset);

 private:
  /// Can be read beyond its end, as MainPlane asks for.
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
    BytePlane bytes, coarse;  // coarse: empty if it would be too small
    ByOffset<std::vector<Motion>> cells;
    MainPlane main() const { return {bytes.view(), coarse.view()}; }
  };

  float main_sigma_;
  std::vector<Slot> slots_;
};

}  // namespace lull
