#pragma once
// Source and sink for a pipeline without codecs: the source returns frames from memory, and the
// sink drops the results.

#include <cstdint>
#include <utility>
#include <vector>

#include "core/stream.h"

namespace lull::bench {

/// Returns the frames of `frames` cyclically, `count` in total. The frames are not copied, because
/// filters never change the samples of a source's frames.
class MemorySource final : public FrameSource {
 public:
  MemorySource(const std::vector<Frame>& frames, int count) : frames_(frames), count_(count) {}
  const FrameFormat& format() const noexcept override { return frames_.front().format; }
  std::optional<Frame> read() override {
    if (next_ == count_) return std::nullopt;
    Frame frame = frames_[static_cast<std::size_t>(next_) % frames_.size()];
    frame.pts = next_++;
    return frame;
  }

 private:
  const std::vector<Frame>& frames_;
  int count_, next_ = 0;
};

enum class Keep { nothing, first, hash };

class DroppingSink final : public FrameSink {
 public:
  explicit DroppingSink(Keep keep) : keep_(keep) {}
  void write(Frame frame) override {
    if (keep_ == Keep::hash) add(frame);
    if (keep_ == Keep::first && !first_.pixels) first_ = std::move(frame);
  }
  void finish() override {}
  /// Returns the hash of all samples and timestamps in order (FNV-1a, 64 bits).
  std::uint64_t hash() const { return hash_; }
  const Frame& first() const { return first_; }

 private:
  void add(const Frame& frame) {
    mix(static_cast<std::uint64_t>(frame.pts));
    for (int i = 0; i < frame.format.planes(); ++i)
      for (int y = 0; y < frame.planes[i].height; ++y)
        for (int x = 0; x < frame.planes[i].width; ++x)
          mix(std::to_integer<std::uint64_t>(frame.planes[i](x, y)));
  }
  void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x100000001b3ULL; }

  Keep keep_;
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
  Frame first_;
};

}  // namespace lull::bench
