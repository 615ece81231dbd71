// What a session finds out about neighbouring frames, without the session.

#include <utility>

#include "bm3d/bm3d.h"
#include "bm3d/frame_statistics.h"
#include "bm3d/guide.h"
#include "bm3d/timeline.h"
#include "core/error.h"

namespace lull::bm3d {
namespace {

class Finder final : public RepeatFinder {
 public:
  Finder(const Params& params, const FrameFormat& format)
      : sigma_(params.sigma),
        alone_(params.temporal == 0 || !filters_any(params, format)),
        timeline_(params.temporal) {}

  Likeness find(const Frame& frame) override {
    if (alone_) return Likeness::fresh;
    if (frame.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (frames are compared on the CPU); decode it on the CPU");
    const Relation relation =
        before_.pixels ? relation_between(frame, before_, sigma_) : Relation::fresh;
    before_ = frame;
    return timeline_.judge(relation);
  }

  void clear() override {
    before_ = {};
    timeline_.clear();
  }

 private:
  std::array<float, 3> sigma_;
  bool alone_;  // frames are not compared: of what passes through nothing is a repetition
  Timeline timeline_;
  Frame before_;
};

}  // namespace

std::unique_ptr<RepeatFinder> open_repeat_finder(const Params& params, const FrameFormat& format) {
  validate(params);
  return std::make_unique<Finder>(params, format);
}

}  // namespace lull::bm3d
