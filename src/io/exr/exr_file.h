#pragma once
// OpenEXR files in memory, with OpenEXR's library: their layers, and which of them is the picture.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/image.h"
#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Channels of one part that have a name in common: "albedo.R", "albedo.G" and "albedo.B", or R, G
/// and B of a part named "albedo".
struct ExrLayer {
  std::string name;                   // "albedo"; empty: channels without a layer
  int part = 0;                       // in the file
  std::vector<std::string> channels;  // as the file has them
  std::vector<std::string> suffixes;  // of each, what stands behind the layer's name: "R"

  /// The channel with this suffix, in any case; null: none.
  const std::string* channel(std::string_view suffix) const;
};

/// Rows and columns as the file counts them; both ends are in it.
struct ExrWindow {
  int x0 = 0, y0 = 0, x1 = -1, y1 = -1;
  int width() const { return x1 - x0 + 1; }
  int height() const { return y1 - y0 + 1; }
  bool operator==(const ExrWindow&) const = default;
};

class ExrFile {
 public:
  /// Refers to `bytes`. `path` is for messages. `threads` pack and unpack blocks, where most of the
  /// time of a file with layers goes; 0: one for each core.
  /// @throws BadData  damaged, or no OpenEXR file
  ExrFile(std::span<const std::uint8_t> bytes, std::string path, int threads);
  ~ExrFile();

  const std::vector<ExrLayer>& layers() const { return layers_; }
  /// "'' (R G B A), albedo (R G B)": what there is, for messages.
  std::string text() const;
  std::string text(const ExrLayer& layer) const;
  /// The part of `layer` and its display window together: what a frame of it shows.
  ExrWindow window(const ExrLayer& layer) const;
  /// The layer that is the picture: R G B, or else one grey channel. @throws BadData  there is none
  const ExrLayer& picture() const;
  /// The channels of the picture: R, G, B; or one.
  std::vector<std::string> picture_channels() const;
  /// Whether all samples of the picture have 16 bits.
  bool has_half_picture() const;
  double pixel_aspect(const ExrLayer& layer) const;

  /// Whether the file can hold the samples of that part, before memory is allocated for them, and
  /// whether all chunks are sound (exr_chunks.h). @throws BadData
  void check_chunks(const ExrLayer& layer) const;

  /// Channels of a layer, and planes of its window for them.
  struct ReadRequest {
    const ExrLayer* layer;
    std::vector<std::string> channels;
    std::vector<PlaneView<float>> to;
  };
  /// Fulfils the requests, with 0 where the file has no data; each part is unpacked once. No
  /// channel is wished twice.
  /// @throws BadData  damaged, deep, or subsampled
  void read(const std::vector<ReadRequest>& requests) const;

  /// The same file with other samples in these channels of the picture; all other channels, parts
  /// and attributes as they are. (Lossy compressions of the picture's part become ZIP, so that its
  /// other channels lose nothing.)
  PacketPtr with_picture(std::span<const std::string> channels,
                         std::span<const PlaneView<const float>> samples) const;

  struct Parts;  // OpenEXR's, in exr_parts.h

 private:
  void find_layers();
  void check(const ReadRequest& request) const;

  std::span<const std::uint8_t> bytes_;
  std::string path_;
  std::unique_ptr<Parts> parts_;
  std::vector<ExrLayer> layers_;
};

/// Whether a file begins as OpenEXR files do.
bool is_exr_file(const std::string& path);
bool is_exr_name(std::string_view path);

}  // namespace lull::io
