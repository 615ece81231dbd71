#pragma once
// Watches an FFmpeg decoder: detects damage that the decoder only logs, and provides the memory for
// decoded pictures.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/ffmpeg/ffmpeg_log.h"

namespace lull::io {

/// Returns whether an error in the decoder's log means damage of a picture: true for codecs whose
/// pictures do not depend on other pictures. Other decoders also log errors for intact recordings
/// that begin in the middle of a group of pictures.
bool logs_damage(const AVCodecDescriptor* codec);

/// Watches one decoder. The decoder must be closed before this object is destroyed.
class DecoderWatch {
 public:
  explicit DecoderWatch(const LogTopic& topic);

  /// Begins to watch a decoder: its log messages become messages about the file of `topic`, the
  /// argument of the constructor. Must be called before the decoder is opened.
  void attach(AVCodecContext& decoder);
  /// Begins to watch a decoder as attach() does. In addition, its pictures get memory that is
  /// filled with zeros, so that missing parts of a damaged picture have defined samples. Decoding
  /// fails before the allocation if a packet is too small for its picture.
  void attach_with_buffers(AVCodecContext& decoder);
  /// Records the size of a packet. Must be called before the packet is sent to the decoder.
  void expect(const AVPacket& packet);
  /// Returns the most recent damage that the decoder has logged for `picture`; empty if there is
  /// none. Must be called each time the decoder returns a picture or an error. After an error,
  /// `picture` must be null.
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
  // The most recent message of each thread of the decoder, by the codec context of the thread.
  std::map<const void*, Message> last_;
  LogTopic::Mark mark_;  // last member, because its listener uses the members above
};

/// Returns whether a packet of `packet_bytes` bytes can contain a picture of this size. The result
/// is true for codecs without an upper bound, such as JPEG 2000 and lossless WebP.
bool can_hold(AVCodecID codec, AVPixelFormat format, int width, int height,
              std::int64_t packet_bytes);

}  // namespace lull::io
