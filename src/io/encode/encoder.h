#pragma once
// Frames into packets of one video stream.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/encode/converter.h"
#include "io/encode/encoder_choice.h"
#include "io/ffmpeg/pixel_formats.h"

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

/// What an encoder has to know of the video. Keeps nothing of the source, which another thread may
/// read by the time that another encoder is opened.
struct EncoderInput {
  /// Before the first read of `source`.
  EncoderInput(const FileSource& source, const SinkOptions& options);

  FrameFormat format;  // of the frames to come
  int source_height;
  AVPixelFormat pixel_format;
  PixelTraits traits;
  bool half_floats;
  AVRational frame_rate, tick, aspect;
  AVFieldOrder field_order;
  bool interlaced;
  FramePtr first;  // of the first frame all but the samples
};

/// Times of frames as the output has them: increasing, and at a constant rate they count frames.
class FrameTimes {
 public:
  /// `codec` and `extension` are for messages.
  FrameTimes(const AVCodec& codec, const Container& container, bool constant_rate, AVRational tick)
      : codec_(codec.name),
        extension_(container.extension),
        frames_only_(container.frames_only()),
        numbered_(container.numbered),
        constant_rate_(constant_rate),
        tick_(tick) {}

  /// In ticks, of the next frame in presentation order. @throws InvalidArgument  the output cannot
  /// hold it
  std::int64_t next(const Frame& frame);
  std::int64_t frames() const { return frames_; }
  /// Whether a frame so far was not at a time of the constant rate that the output has.
  bool has_moved_times() const { return moved_; }

 private:
  std::string codec_, extension_;
  bool frames_only_, numbered_, constant_rate_, moved_ = false;
  AVRational tick_;
  std::int64_t frames_ = 0, first_pts_ = 0, last_ = AV_NOPTS_VALUE;
};

class Encoder {
 public:
  /// `leftover` gets the entries of options.vopts that the encoder does not know. `times`: of an
  /// encoder that this one takes over from, with the same arguments; null: it begins the video.
  Encoder(const EncoderChoice& choice, const Container& container, const EncoderInput& input,
          const SinkOptions& options, Dictionary& leftover,
          std::shared_ptr<FrameTimes> times = nullptr);

  const AVCodecContext& context() const { return *context_; }
  const EncoderChoice& choice() const { return choice_; }
  /// Takes the next frame in presentation order. @throws IoError, InvalidArgument
  void send(const Frame& frame);
  void send_end();
  /// The next packet that is ready, else null; its time base is the context's.
  PacketPtr receive();
  const std::shared_ptr<FrameTimes>& times() const { return times_; }

 private:
  void describe(const EncoderInput& input, const Container& container);
  void open(Dictionary& leftover);
  void repair_decoding_time(AVPacket& packet) const;
  FramePtr share_samples(const Frame& frame) const;
  AVFrame& pack_samples(const Frame& frame);

  EncoderChoice choice_;
  EncoderTraits traits_;
  CodecPtr context_;
  std::shared_ptr<FrameTimes> times_;
  PicturePool pictures_;
  std::optional<PicturePool> unconverted_;
  std::optional<Converter> converter_;
  std::int64_t sent_ = 0, received_ = 0;  // frames, packets
  std::int64_t first_time_ = 0;
  bool ended_ = false;
  bool mark_fields_ = false;  // the container alone says that frames are interlaced
  struct PendingFrame {
    std::int64_t duration = 0;
    std::vector<std::uint8_t> messages;
  };
  std::map<std::int64_t, PendingFrame> pending_;  // by time: frames inside the encoder
};

/// The first of `choices` that takes frames of the source's size; if none does, throws the first
/// one's reason. `leftover` as above.
std::unique_ptr<Encoder> open_encoder(const std::vector<EncoderChoice>& choices,
                                      const Container& container, const FileSource& source,
                                      const SinkOptions& options, Dictionary& leftover);

}  // namespace lull::io
