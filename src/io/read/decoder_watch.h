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

/// Returns whether an error in the log of a decoder of this codec means that a picture is damaged.
/// The result is true if pictures of the codec do not depend on other pictures. Other decoders also
/// log errors if an intact recording begins in the middle of a group of pictures.
bool logs_damage(const AVCodecDescriptor* codec);

/// Watches one decoder. The decoder must be closed before this object is destroyed.
class DecoderWatch {
 public:
  explicit DecoderWatch(const LogTopic& topic);

  /// Begins to watch a decoder. Log messages of the decoder become messages about the file of
  /// `topic`, the argument of the constructor. The caller must call this function before it opens
  /// the decoder.
  void attach(AVCodecContext& decoder);
  /// Begins to watch a decoder as attach() does, and also allocates the memory of its pictures. The
  /// memory contains zeros, so that missing parts of a damaged picture have defined samples. If a
  /// packet is too small for its picture, decoding fails before the allocation.
  void attach_with_buffers(AVCodecContext& decoder);
  /// Records the size of a packet. The caller must call this function before it sends the packet to
  /// the decoder.
  void expect(const AVPacket& packet);
  /// Returns the most recent damage that the decoder has logged for `picture`; empty if there is
  /// none. The caller must call this function each time the decoder returns a picture or an error.
  /// After an error, `picture` must be null.
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
  // The most recent message of each decoder thread. The key is the codec context of the thread.
  std::map<const void*, Message> last_;
  LogTopic::Mark mark_;  // last member, because its listener uses the members above
};

/// Returns whether a packet of `packet_bytes` bytes can contain a picture of the given size. The
/// result is true for codecs without an upper bound, such as JPEG 2000 and lossless WebP.
bool can_hold(AVCodecID codec, AVPixelFormat format, int width, int height,
              std::int64_t packet_bytes);

}  // namespace lull::io
