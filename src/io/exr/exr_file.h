#pragma once
// Reads OpenEXR files in memory with OpenEXR's library, lists their layers, and determines which
// layer is the picture.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/image.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Channels of one part with a common name: "albedo.R", "albedo.G" and "albedo.B", or R, G and B of
/// a part named "albedo".
struct ExrLayer {
  std::string name;                   // layer name, "albedo"; empty: channels without a layer
  int part = 0;                       // index of the part in the file
  std::vector<std::string> channels;  // complete names of the channels
  std::vector<std::string> suffixes;  // for each channel, the name after the layer's name: "R"

  /// Returns the channel whose name has this suffix, ignoring case; null if there is none.
  const std::string* channel(std::string_view suffix) const;
};

/// A rectangle in the row and column numbers of the file; both ends are inclusive.
struct ExrWindow {
  int x0 = 0, y0 = 0, x1 = -1, y1 = -1;
  int width() const { return x1 - x0 + 1; }
  int height() const { return y1 - y0 + 1; }
  bool operator==(const ExrWindow&) const = default;
};

class ExrFile {
 public:
  /// Refers to `bytes` without copying them. `path` is used in messages. `threads` threads compress
  /// and decompress blocks, which takes most of the time for files with layers; 0: one per core.
  /// @throws BadData  the file is damaged, or is not an OpenEXR file
  ExrFile(std::span<const std::uint8_t> bytes, std::string path, int threads);
  ~ExrFile();

  const std::vector<ExrLayer>& layers() const { return layers_; }
  /// Returns a list of the layers for messages, such as "'' (R G B A), albedo (R G B)".
  std::string text() const;
  std::string text(const ExrLayer& layer) const;
  /// Returns the rectangle that a frame of `layer` covers: the union of the data window of its part
  /// and the display window.
  ExrWindow window(const ExrLayer& layer) const;
  /// Returns the layer that contains the picture: the channels R G B, or otherwise a single grey
  /// channel.
  /// @throws BadData  there is no such layer
  const ExrLayer& picture() const;
  /// Returns the names of the channels of the picture: R, G and B, or one channel.
  std::vector<std::string> picture_channels() const;
  /// Returns whether all samples of the picture have 16 bits.
  bool has_half_picture() const;
  double pixel_aspect(const ExrLayer& layer) const;

  /// Before memory is allocated, checks whether the file can contain the samples of the layer's
  /// part, and whether all chunks are valid (exr_chunks.h).
  /// @throws BadData
  void check_chunks(const ExrLayer& layer) const;

  /// A request to read channels of a layer. The planes have the size of the layer's window.
  struct ReadRequest {
    const ExrLayer* layer;
    std::vector<std::string> channels;
    std::vector<PlaneView<float>> to;
  };
  /// Reads the requested channels. Samples for which the file has no data become 0. Each part is
  /// decompressed once. A channel must not be requested twice.
  /// @throws BadData  the file is damaged, or the samples are deep or subsampled
  void read(const std::vector<ReadRequest>& requests) const;

  /// Returns the file with new samples in these channels of the picture. All other channels, parts
  /// and attributes are preserved. (If the compression of the picture's part is lossy, it becomes
  /// ZIP, so that the other channels lose nothing.)
  PacketPtr with_picture(std::span<const std::string> channels,
                         std::span<const PlaneView<const float>> samples) const;

  struct Parts;  // objects of OpenEXR, defined in exr_parts.h

 private:
  void find_layers();
  void check(const ReadRequest& request) const;

  std::span<const std::uint8_t> bytes_;
  std::string path_;
  std::unique_ptr<Parts> parts_;
  std::vector<ExrLayer> layers_;
};

/// Returns whether a file begins with OpenEXR's magic number.
bool is_exr_file(const std::string& path);
bool is_exr_name(std::string_view path);

}  // namespace lull::io
