#pragma once
// Damage that a decoder of FFmpeg only logs, and the memory that it decodes into.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/ffmpeg/ffmpeg_log.h"

namespace lull::io {

/// Whether each picture of the codec stands alone, so that an error in its decoder's log is damage
/// of that picture. Decoders of other codecs log errors for intact broadcasts, too: they begin in
/// the middle of a group of pictures.
bool logs_damage(const AVCodecDescriptor* codec);

/// Whether the decoder is to fail (AV_EF_EXPLODE) where it would otherwise return a part of a
/// picture.
bool fails_on_damage(const AVCodecDescriptor* codec);

/// Watches one decoder, which must be closed before the watch ends.
class DecoderWatch {
 public:
  explicit DecoderWatch(const LogTopic& topic);

  /// Before the decoder opens: assigns its messages to the topic.
  void attach(AVCodecContext& decoder);
  /// As attach(). The pictures of this decoder also get memory that is zero, so that the parts of a
  /// damaged picture that the decoder leaves out have defined samples. A picture that its packet
  /// cannot hold fails before memory is allocated for it.
  void attach_with_buffers(AVCodecContext& decoder);
  /// Before each packet is sent.
  void expect(const AVPacket& packet);
  /// After each result of the decoder: the last message about `picture` that means damage, empty
  /// if there is none. Null: the decoder failed.
  std::string take_damage(const AVCodecContext& decoder, const AVFrame* picture);

 private:
  struct Message {
    std::int64_t results;  // of the decoder when the message was logged
    std::string text;
  };

  void note(const void* context, bool is_error, const std::string& text);
  static int allocate(AVCodecContext* context, AVFrame* picture, int flags);

  std::atomic<std::int64_t> packet_bytes_ = 0;  // of the largest packet so far
  std::atomic<std::int64_t> results_ = 0;
  std::mutex mutex_;
  std::map<const void*, Message> last_;  // by the context of a frame thread
  LogTopic::Mark mark_;                  // the last member: its listener uses those above
};

/// Whether a packet of so many bytes can hold a picture of this size. True where the codec has no
/// upper bound, as JPEG 2000 and lossless WebP.
bool can_hold(AVCodecID codec, AVPixelFormat format, int width, int height,
              std::int64_t packet_bytes);

}  // namespace lull::io
