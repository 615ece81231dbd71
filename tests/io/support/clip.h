#pragma once
// Media files made and read with FFmpeg's libraries alone, so that io's own code is checked against
// theirs.

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

/// Some builds of FFmpeg lack some encoders.
bool has_encoder(const char* name);

/// A folder that goes with its object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }
  /// Names of the files in it, sorted.
  std::vector<std::string> files() const;

 private:
  std::filesystem::path path_;
};

struct ClipSpec {
  int width = 64, height = 48, frames = 10;
  AVPixelFormat format = AV_PIX_FMT_YUV420P;
  std::string encoder = "ffv1", muxer;  // muxer: from the name
  std::vector<std::int64_t> pts;        // one for each frame; empty: 0, 1, 2 ...
  AVRational time_base{1, 25}, frame_rate{25, 1};
  std::vector<std::pair<std::string, std::string>> encoder_options, muxer_options;
  std::string audio, subtitles;  // encoders; empty: none
  double audio_seconds = 1;
  std::function<void(AVCodecContext&)> set_up;     // before the encoder opens
  std::function<void(AVFormatContext&)> decorate;  // before the head is written; stream 0: video
};

/// A grey picture.
inline ClipSpec png_spec() {
  ClipSpec spec;
  spec.encoder = "png";
  spec.muxer = "image2pipe";
  spec.format = AV_PIX_FMT_GRAY8;
  spec.frames = 1;
  return spec;
}

/// Samples are noise over a gradient, the same for equal specs.
void make_clip(const std::string& path, const ClipSpec& spec);

/// A picture of the format with random samples within its depth, padding bits zero.
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
/// Every stream's packets as libavformat reads them.
std::vector<StreamRecord> read_packets(const std::string& path);

struct Picture {
  double time;                      // seconds
  std::vector<std::uint8_t> bytes;  // as av_image_copy_to_buffer lays them out
};
struct Decoded {
  AVPixelFormat format;
  int width, height;
  std::vector<Picture> pictures;
  FramePtr first;
};
/// Every frame of the best video stream as FFmpeg decodes it.
Decoded decode(const std::string& path);

/// Copies with open_source and open_sink; the number of frames.
int transcode(const std::string& from, const std::string& to, const SinkOptions& options = {});

/// Reads all frames. @throws what open_source and read() throw
int count_frames(const std::string& path);

std::vector<std::uint8_t> read_file(const std::string& path);
void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes);

}  // namespace lull::io::test
