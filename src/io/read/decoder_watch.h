#pragma once
// Watches an FFmpeg decoder: detects damage that the decoder only logs, and allocates decoded
// pictures.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "io/ffmpeg/ffmpeg.h"
#include "io/ffmpeg/ffmpeg_log.h"

namespace lull::io {

/// Returns whether an error in the log of the codec's decoder means a damaged picture: true for
/// intra-only and lossless codecs without frame reordering. Other decoders also log errors if an
/// intact recording begins in the middle of a GOP.
bool logs_damage(const AVCodecDescriptor* codec);

/// Watches one decoder. The caller must close the decoder before it destroys this object.
class DecoderWatch {
 public:
  explicit DecoderWatch(const LogTopic& topic);

  /// Watches the log messages of `decoder`. The caller must call this function before it opens the
  /// decoder.
  void attach(AVCodecContext& decoder);
  /// Does the same as attach(), and allocates the decoder's pictures. Their memory initially
  /// contains zeros, so that missing parts become zero. If a packet is too small for its picture,
  /// the allocation and the decoding fail.
  void attach_with_buffers(AVCodecContext& decoder);
  /// Records the size of the next packet that the caller sends to the decoder.
  void expect(const AVPacket& packet);
  /// Returns the most recent damage that the decoder has logged for `picture`; empty if there is
  /// none. The caller must call this function for each picture that the decoder returns. If the
  /// decoder returns an error instead, the caller must pass null as `picture`.
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
  // The most recent message of each decoder thread, by the thread's codec context.
  std::map<const void*, Message> last_;
  LogTopic::Mark mark_;  // last member, because its listener uses the members above
};

/// Returns whether a packet of `packet_bytes` bytes can contain a picture of the given size. The
/// result is true for codecs without an upper bound, such as JPEG 2000 and lossless WebP.
bool can_hold(AVCodecID codec, AVPixelFormat format, int width, int height,
              std::int64_t packet_bytes);

}  // namespace lull::io
