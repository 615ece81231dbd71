#pragma once
// Watches a decoder of FFmpeg: collects damage that the decoder only logs, and provides the memory
// for the decoded pictures.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/ffmpeg/ffmpeg_log.h"

namespace lull::io {

/// Returns whether each picture of the codec is independent of the others, so that an error in the
/// decoder's log means damage of that picture. Decoders of other codecs also log errors for intact
/// recordings that begin in the middle of a group of pictures.
bool logs_damage(const AVCodecDescriptor* codec);

/// Watches one decoder, which must be closed before the watch is destroyed.
class DecoderWatch {
 public:
  explicit DecoderWatch(const LogTopic& topic);

  /// Tags the decoder. This object then receives the decoder's log messages, and stores them as
  /// messages about the file of the constructor's LogTopic. The caller must call this function
  /// before the decoder is opened.
  void attach(AVCodecContext& decoder);
  /// Tags the decoder as attach() does. In addition, the pictures of the decoder get zeroed memory,
  /// so that the missing parts of a damaged picture have defined samples. If a packet is too small
  /// for its picture, decoding fails before memory is allocated.
  void attach_with_buffers(AVCodecContext& decoder);
  /// Records the size of a packet. The caller must call this function before it sends the packet to
  /// the decoder.
  void expect(const AVPacket& packet);
  /// The caller must call this function after each result of the decoder. Returns the most recent
  /// damage that the decoder has logged for `picture`; empty if there is none. `picture` is null if
  /// the decoder failed.
  std::string take_damage(const AVCodecContext& decoder, const AVFrame* picture);

 private:
  struct Message {
    std::int64_t results;  // number of the decoder's results when the message was logged
    std::string text;
  };

  void note(const void* context, bool is_error, const std::string& text);
  static int allocate(AVCodecContext* context, AVFrame* picture, int flags);

  std::atomic<std::int64_t> packet_bytes_ = 0;  // size of the largest packet so far
  std::atomic<std::int64_t> results_ = 0;
  std::mutex mutex_;
  // The most recent message of each frame thread. The key is the codec context of the thread.
  std::map<const void*, Message> last_;
  LogTopic::Mark mark_;  // last member, because its listener uses the members above
};

/// Returns whether a packet of `packet_bytes` bytes can contain a picture of this size. Returns
/// true for codecs without an upper bound, such as JPEG 2000 and lossless WebP.
bool can_hold(AVCodecID codec, AVPixelFormat format, int width, int height,
              std::int64_t packet_bytes);

}  // namespace lull::io
