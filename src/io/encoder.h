#pragma once
// Frames into packets of one video stream.

#include <map>
#include <optional>
#include <vector>

#include "io/converter.h"
#include "io/encoder_choice.h"

namespace lull::io {

/// Frames by format, used again once the encoder lets go of them.
class PicturePool {
 public:
  PicturePool(AVPixelFormat format, int width, int height)
      : format_(format), width_(width), height_(height) {}
  /// A picture with samples and nothing else. Stays in the pool's hands: clone it to pass it on.
  AVFrame& writable();

 private:
  AVPixelFormat format_;
  int width_, height_;
  std::vector<FramePtr> pictures_;
};

class Encoder {
 public:
  /// `leftover` gets the entries of options.vopts that the encoder does not know.
  Encoder(const EncoderChoice& choice, const Container& container, const FileSource& source,
          const SinkOptions& options, Dictionary& leftover);

  const AVCodecContext& context() const { return *context_; }
  const EncoderChoice& choice() const { return choice_; }
  /// Takes the next frame in presentation order. @throws IoError, InvalidArgument
  void send(const Frame& frame);
  void send_end();
  /// The next packet that is ready, else null; its time base is the context's.
  PacketPtr receive();
  /// Whether a frame so far was not at a time of the constant rate that the output has.
  bool moved_times() const { return moved_times_; }

 private:
  void describe(const FileSource& source, const Container& container);
  void open(Dictionary& leftover);
  FramePtr share_samples(const Frame& frame) const;
  AVFrame& pack_samples(const Frame& frame);
  std::int64_t time_of(const Frame& frame);

  EncoderChoice choice_;
  CodecPtr context_;
  bool frames_only_, numbered_;
  bool constant_rate_ = false, moved_times_ = false;
  std::string extension_;
  PicturePool pictures_;
  std::optional<PicturePool> unconverted_;
  std::optional<Converter> converter_;
  std::int64_t sent_ = 0;  // frames
  std::int64_t first_pts_ = 0, last_time_ = AV_NOPTS_VALUE;
  struct Inside {
    std::int64_t duration = 0;
    std::vector<std::uint8_t> messages;
  };
  std::map<std::int64_t, Inside> inside_;  // by time: frames inside the encoder
};

/// The first of `choices` that takes frames of the source's size; if none does, throws the first
/// one's reason. `leftover` as above.
std::unique_ptr<Encoder> open_encoder(const std::vector<EncoderChoice>& choices,
                                      const Container& container, const FileSource& source,
                                      const SinkOptions& options, Dictionary& leftover);

}  // namespace lull::io
