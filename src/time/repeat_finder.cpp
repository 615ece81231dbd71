#include "time/repeat_finder.h"

#include "core/error.h"
#include "time/frame_statistics.h"
#include "time/timeline.h"

namespace lull {
namespace {

class Finder final : public RepeatFinder {
 public:
  Finder(const std::array<float, 3>& sigma, int radius)
      : sigma_(sigma), is_disabled_(radius == 0), timeline_(radius) {}

  RepeatState find(const Frame& frame) override {
    if (is_disabled_) return RepeatState::independent;
    if (frame.on_device)
      throw InvalidArgument(
          "a frame in the memory of a GPU (frames are compared on the CPU); decode it on the CPU");
    const Relation relation =
        before_.pixels ? relation_between(frame, before_, sigma_) : Relation::independent;
    before_ = frame;
    return timeline_.classify(relation);
  }

  void clear() override {
    before_ = {};
    timeline_.clear();
  }

 private:
  std::array<float, 3> sigma_;
  bool is_disabled_;  // such a session does not compare frames
  Timeline timeline_;
  Frame before_;
};

}  // namespace

std::unique_ptr<RepeatFinder> make_repeat_finder(const std::array<float, 3>& sigma, int radius) {
  return std::make_unique<Finder>(sigma, radius);
}

}  // namespace lull
