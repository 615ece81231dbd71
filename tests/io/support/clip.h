#pragma once
// Media files that are written and read only with FFmpeg's libraries, so that lull's code is
// checked against FFmpeg's.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/frame.h"
#include "io/ffmpeg/ffmpeg.h"
#include "io/media.h"

namespace lull::io::test {

/// Returns whether FFmpeg has this encoder. Some builds of FFmpeg lack some encoders.
bool has_encoder(const char* name);

/// A folder that is deleted with the object.
class TemporaryFolder {
 public:
  /// @param in_memory  if possible, the folder is on a file system in memory. Tests that write very
  ///     many small files are much faster there
  explicit TemporaryFolder(bool in_memory = false);
  ~TemporaryFolder();
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }
  /// Returns the sorted names of the files in the folder.
  std::vector<std::string> files() const;

 private:
  std::filesystem::path path_;
};

struct ClipSpec {
  int width = 64, height = 48, frames = 10;
  AVPixelFormat format = AV_PIX_FMT_YUV420P;
  std::string encoder = "ffv1", muxer;  // muxer: empty selects it by the file name
  std::vector<std::int64_t> pts;        // one for each frame; empty: 0, 1, 2 ...
  AVRational time_base{1, 25}, frame_rate{25, 1};
  std::vector<std::pair<std::string, std::string>> encoder_options, muxer_options;
  std::string audio, subtitles;  // encoders; empty: none
  double audio_seconds = 1;
  std::function<void(AVCodecContext&)> set_up;  // called before the encoder opens
  // called before the header is written; stream 0 is video
  std::function<void(AVFormatContext&)> decorate;
};

/// Returns a clip of one grey PNG picture.
inline ClipSpec png_spec() {
  ClipSpec spec;
  spec.encoder = "png";
  spec.muxer = "image2pipe";
  spec.format = AV_PIX_FMT_GRAY8;
  spec.frames = 1;
  return spec;
}

/// Writes a clip of noise on a gradient; equal specifications give equal samples.
void make_clip(const std::string& path, const ClipSpec& spec);

/// Returns a picture of the format with random samples within its depth and zero padding bits.
FramePtr random_picture(AVPixelFormat format, int width, int height, unsigned seed);

struct PacketRecord {
  std::int64_t pts_us, dts_us;
  std::uint64_t hash;
  bool operator==(const PacketRecord&) const = default;
};
struct StreamRecord {
  AVMediaType type;
  AVCodecID codec;
  std::vector<PacketRecord> packets;
  std::vector<std::pair<std::string, std::string>> metadata;
  int disposition;
};
/// Returns the packets of every stream as libavformat reads them.
std::vector<StreamRecord> read_packets(const std::string& path);

struct Picture {
  double time;                      // seconds
  std::vector<std::uint8_t> bytes;  // in the layout of av_image_copy_to_buffer
};
struct Decoded {
  AVPixelFormat format;
  int width, height;
  std::vector<Picture> pictures;
  FramePtr first;
};
/// Returns all frames of the best video stream as FFmpeg decodes them.
Decoded decode(const std::string& path);

/// Copies with open_source and open_sink; returns the number of frames.
int transcode(const std::string& from, const std::string& to, const SinkOptions& options = {});

/// Reads all frames and returns their number. @throws the errors of open_source and read()
int count_frames(const std::string& path);

std::vector<std::uint8_t> read_file(const std::string& path);
void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes);

}  // namespace lull::io::test
