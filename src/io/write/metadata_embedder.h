#pragma once
// Copies the metadata of input pictures to the pictures of an output.

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
  /// Reads the metadata of the first picture, and decides which metadata the output contains. The
  /// caller must construct this object before the first read of `source`, and copy rotation() to
  /// Container::rotation before it opens an encoder.
  /// @param choices  the possible encoders; if empty, FFmpeg does not encode the pictures, and lull
  ///     cannot rotate them
  MetadataEmbedder(const FileSource& source, const Container& container, const SinkOptions& options,
                   const std::vector<EncoderChoice>& choices);

  /// losses() returns messages about lost metadata, and notes() returns notes for the user. Both
  /// lists cover all pictures so far.
  const std::vector<std::string>& losses() const { return losses_; }
  const std::vector<std::string>& notes() const { return notes_; }
  /// Returns the EXIF orientation by which the encoder must rotate the samples of all pictures.
  int rotation() const { return rotation_; }

  /// Prepares the metadata of a picture. The caller must call this function before it sends the
  /// picture to the encoder.
  /// @throws InvalidArgument  the picture needs another rotation than the first picture
  void push(const Frame& frame);
  /// Returns the metadata of the encoder's next picture. The caller must write these metadata to
  /// the output.
  PictureMetadata next();
  /// Returns the encoder's next picture with its metadata. The caller must call either embed() or
  /// next() for each picture.
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

/// Returns one string for each kind of metadata in the first picture of `source` that a video file
/// cannot store, such as EXIF.
std::vector<std::string> picture_losses_in_video(const FileSource& source,
                                                 const Container& container);

}  // namespace lull::io
