#pragma once
// Records decoded pictures in an index, or compares them with an index.

#include <cstdint>
#include <memory>
#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/frame_index.h"

namespace lull::io {

/// Returns a digest of the picture's samples and of all other properties on which a result may
/// depend: side data, colour, interlacing, aspect ratio. The digest is 0 only for a picture in GPU
/// memory.
std::uint64_t digest_of(const AVFrame& picture);

/// Returns whether decoding can start at the picture, according to the decoder.
bool is_key(const AVFrame& picture);

class PictureIndex {
 public:
  /// @param note  the index to which the pictures are added; may be null
  /// @param known  the index with which the pictures are compared; may be null
  /// @param name  the input's name in messages
  PictureIndex(std::shared_ptr<FrameIndex> note, std::shared_ptr<const FrameIndex> known,
               std::string name)
      : recorded_(std::move(note)), expected_(std::move(known)), name_(std::move(name)) {}

  const FrameIndex* expected() const { return expected_.get(); }
  /// After this call, process() also compares digests, because the next pictures follow a seek.
  void make_strict() { strict_ = true; }
  /// Records the picture `number`, or compares it with the index.
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
