#pragma once
// OpenEXR files in memory, read with OpenEXR's library: their layers, and which of them is the
// picture.

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
  /// Refers to `bytes`. `path` is for messages. `threads` compress and decompress blocks, which
  /// takes most of the time for files with layers; 0: one per core. `picture` is the layer that is
  /// the picture; empty: the default one.
  /// @throws BadData  damaged, or no OpenEXR file, or there is no such layer
  ExrFile(std::span<const std::uint8_t> bytes, std::string path, int threads,
          const std::string& picture = {});
  ~ExrFile();

  const std::vector<ExrLayer>& layers() const { return layers_; }
  /// Returns a list of the layers for messages: "'' (R G B A), albedo (R G B)".
  std::string text() const;
  std::string text(const ExrLayer& layer) const;
  /// Returns the layer that is the picture.
  /// @throws BadData  there is none
  const ExrLayer& picture() const;
  /// Returns the complete names of the picture's channels: R, G and B, or one channel.
  std::vector<std::string> picture_channels() const;
  /// Returns whether all samples of the picture have 16 bits.
  bool has_half_picture() const;
  double pixel_aspect(const ExrLayer& layer) const;

  /// Checks, before memory is allocated, whether the file can hold the samples of all its parts,
  /// and whether all chunks are valid (exr_chunks.h).
  /// @throws BadData
  void check_chunks() const;

  /// Channels of a layer to read, and planes for them with the size of the layer's window.
  struct ReadRequest {
    const ExrLayer* layer;
    std::vector<std::string> channels;
    std::vector<PlaneView<float>> to;
  };
  /// Reads the requested channels, with 0 where the file has no data. Each part is decompressed
  /// once. A channel must not be requested twice.
  /// @throws BadData  damaged, deep, or subsampled
  void read(const std::vector<ReadRequest>& requests) const;

  /// New samples for channels of a layer, given by their complete names. The planes have the size
  /// of the layer's window.
  struct NewSamples {
    const ExrLayer* layer;
    std::vector<std::string> channels;
    std::vector<PlaneView<const float>> from;
  };
  /// Returns the file with other samples in these channels. All other channels, parts and
  /// attributes are preserved. Lossy compression of a part becomes ZIP if it would change the other
  /// channels.
  PacketPtr with_samples(const std::vector<NewSamples>& samples) const;

  struct Parts;  // objects of OpenEXR, defined in exr_parts.h

 private:
  void choose_picture(const std::string& name);
  void check(const ReadRequest& request) const;

  std::span<const std::uint8_t> bytes_;
  std::string path_;
  std::unique_ptr<Parts> parts_;
  std::vector<ExrLayer> layers_;
  const ExrLayer* picture_ = nullptr;  // null: there is none
};

/// Returns whether a file begins with OpenEXR's magic number.
bool is_exr_file(const std::string& path);
bool is_exr_name(std::string_view path);

}  // namespace lull::io
