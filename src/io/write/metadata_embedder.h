#pragma once
// Transfers the metadata of input pictures to the pictures of an output.

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "io/encode/encoder_choice.h"
#include "io/ffmpeg/side_data.h"
#include "io/metadata/prepare.h"

namespace lull::io {

class MetadataEmbedder {
 public:
  /// Reads the first picture of `source` and decides which metadata the output keeps. The caller
  /// must call this function before the first read of `source`. The caller must set
  /// Container::rotation to rotation() before it opens one of the encoders in `choices`. If
  /// `choices` is empty, FFmpeg does not encode the pictures, and their samples cannot be rotated.
  MetadataEmbedder(const FileSource& source, const Container& container, const SinkOptions& options,
                   const std::vector<EncoderChoice>& choices);

  /// Metadata that the output loses, and notes about metadata, of all pictures so far.
  const std::vector<std::string>& losses() const { return losses_; }
  const std::vector<std::string>& notes() const { return notes_; }
  /// Returns the rotation that the encoder must apply to the samples of all pictures, as an EXIF
  /// orientation.
  int rotation() const { return rotation_; }

  /// Prepares the metadata of the next picture that is sent to the encoder.
  /// @throws InvalidArgument  the picture needs another rotation than the first picture
  void push(const Frame& frame);
  /// Returns the metadata of the next picture that the encoder returns.
  PictureMetadata next();
  /// Returns the next encoded picture with its metadata. Each picture needs either a call of
  /// embed() or a call of next().
  PacketPtr embed(PacketPtr picture);

 private:
  PreparedMetadata prepare(const AVFrame& properties, const PictureMetadata* metadata,
                           std::span<const std::uint8_t> matrix);
  void note(PreparedMetadata& prepared);

  PictureTarget target_;
  int rotation_ = 1;
  std::vector<std::uint8_t> stream_matrix_;  // the display matrix of the video stream; may be empty
  std::vector<std::string> losses_, notes_;
  std::deque<PictureMetadata> pending_;  // metadata of pictures inside the encoder
};

/// Returns which metadata of the source's first picture a video cannot hold.
std::vector<std::string> picture_losses_in_video(const FileSource& source,
                                                 const Container& container);

}  // namespace lull::io
