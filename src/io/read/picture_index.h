#pragma once
// Pictures as they come out of a decoder, noted in an index or held against one.

#include <cstdint>
#include <memory>
#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/frame_index.h"

namespace lull::io {

/// Of the picture's samples and all that the result may depend on beside them: side data, colour,
/// interlacing, aspect ratio. Never 0, but for a picture in the memory of a GPU.
std::uint64_t digest_of(const AVFrame& picture);

/// Whether the decoder says that one may begin here.
bool is_key(const AVFrame& picture);

class PictureIndex {
 public:
  /// Either may be null. `name` is the input's, for messages.
  PictureIndex(std::shared_ptr<FrameIndex> note, std::shared_ptr<const FrameIndex> known,
               std::string name)
      : recorded_(std::move(note)), expected_(std::move(known)), name_(std::move(name)) {}

  const FrameIndex* expected() const { return expected_.get(); }
  /// Digests count from here on: the pictures come after a seek.
  void make_strict() { strict_ = true; }
  /// The picture with this number. @throws IndexMismatch
  void process(std::int64_t number, FrameMark mark, const AVFrame& picture);
  [[noreturn]] void fail(std::int64_t number) const;

 private:
  std::shared_ptr<FrameIndex> recorded_;
  std::shared_ptr<const FrameIndex> expected_;
  std::string name_;
  bool strict_ = false;
};

}  // namespace lull::io
