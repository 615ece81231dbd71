#pragma once
// Reads OpenEXR files in memory, lists their layers and finds the picture.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/image.h"
#include "io/exr/exr_layers.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

class ExrFile {
 public:
  /// @param bytes    content of the file, which must outlive this object
  /// @param path     name of the file in messages
  /// @param threads  number of threads for (de)compression; 0: one per core
  /// @param picture  name of the layer that is the picture; empty: the default layer
  /// @throws BadData  the file is damaged, is no OpenEXR file, or has no such layer
  ExrFile(std::span<const std::uint8_t> bytes, std::string path, int threads,
          const std::string& picture = {});
  ~ExrFile();

  const std::vector<ExrLayer>& layers() const { return layers_; }
  /// Returns the layers for messages, such as "'' (R G B A), albedo (R G B)".
  std::string text() const;
  std::string text(const ExrLayer& layer) const;
  /// Returns the layer that is the picture.
  /// @throws BadData  the file has no suitable layer
  const ExrLayer& picture() const;
  /// Returns the complete channel names of the picture: R, G and B, or one channel.
  std::vector<std::string> picture_channels() const;
  /// Returns whether all samples of the picture have 16 bits.
  bool has_half_picture() const;
  double pixel_aspect(const ExrLayer& layer) const;

  /// Checks that the file is large enough for its samples and that all chunks are valid
  /// (`exr_chunks.h`). The caller must call this function before it allocates memory for samples.
  /// @throws BadData
  void check_chunks() const;

  /// A request to read channels of a layer. Each plane in `to` has the size of `layer->window`.
  struct ReadRequest {
    const ExrLayer* layer;
    std::vector<std::string> channels;
    std::vector<PlaneView<float>> to;
  };
  /// Reads the requested channels, and decompresses each part once. Missing samples become 0. Two
  /// requests must not name the same channel.
  /// @throws BadData  the file is damaged; or the samples are deep or subsampled, or are the
  ///     luminance of a layer with chroma
  void read(const std::vector<ReadRequest>& requests) const;

  /// New samples for channels of a layer. `channels` contains the complete names of the channels.
  /// The planes have the size of `layer->window`.
  struct NewSamples {
    const ExrLayer* layer;
    std::vector<std::string> channels;
    std::vector<PlaneView<const float>> from;
  };
  /// Returns a copy of the file that differs only in the samples of the given channels. If a lossy
  /// compression would change other channels of a part, the function compresses this part with ZIP.
  PacketPtr with_samples(const std::vector<NewSamples>& samples) const;

  struct Parts;  // objects of OpenEXR, defined in exr_parts.h

 private:
  void choose_picture(const std::string& name);
  void check(const ReadRequest& request) const;

  std::span<const std::uint8_t> bytes_;
  std::string path_;
  std::unique_ptr<Parts> parts_;
  std::vector<ExrLayer> layers_;
  const ExrLayer* picture_ = nullptr;  // null if there is no picture
};

/// Returns whether a file begins with OpenEXR's magic number.
bool is_exr_file(const std::string& path);

}  // namespace lull::io
