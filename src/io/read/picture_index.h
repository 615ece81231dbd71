#pragma once
// Adds decoded pictures to an index, or compares them with an index.

#include <cstdint>
#include <memory>
#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/frame_index.h"

namespace lull::io {

/// Returns a digest of the samples and of all properties on which results may depend: side data,
/// colour, interlacing, aspect ratio. The digest is 0 only for pictures in GPU memory.
std::uint64_t digest_of(const AVFrame& picture);

/// Returns whether the decoder marks the picture as a keyframe.
bool is_key(const AVFrame& picture);

class PictureIndex {
 public:
  /// @param note  index to which process() adds the pictures; may be null
  /// @param known  index with which process() compares the pictures; may be null
  /// @param name  name of the input in messages
  PictureIndex(std::shared_ptr<FrameIndex> note, std::shared_ptr<const FrameIndex> known,
               std::string name)
      : recorded_(std::move(note)), expected_(std::move(known)), name_(std::move(name)) {}

  const FrameIndex* expected() const { return expected_.get(); }
  /// Makes process() compare digests in addition to timestamps. The caller must call this function
  /// after a seek.
  void make_strict() { strict_ = true; }
  /// Adds the picture `number` to the index, or compares it with the index.
  /// @throws IndexMismatch
  void process(std::int64_t number, FrameMark mark, const AVFrame& picture);
  [[noreturn]] void fail(std::int64_t number) const;

 private:
  std::shared_ptr<FrameIndex> recorded_;
  std::shared_ptr<const FrameIndex> expected_;
  std::string name_;
  bool strict_ = false;
};

}  // namespace lull::io
