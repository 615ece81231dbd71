#pragma once
// Encodes frames as packets of one video stream.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/encode/encoder_choice.h"
#include "io/encode/frame_packer.h"
#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {

/// Copies of those properties of a source that an encoder needs. The encoder cannot query the
/// source, because another thread may read from the source at the same time.
struct EncoderInput {
  /// Reads the properties of `source`. The caller must create this object before the first read of
  /// `source`.
  EncoderInput(const FileSource& source, const SinkOptions& options);

  FrameFormat format;  // format of the frames that the encoder gets
  int source_height;
  AVPixelFormat pixel_format;
  PixelTraits traits;
  bool half_floats;
  AVRational frame_rate, tick, aspect;
  AVFieldOrder field_order;
  bool interlaced;
  FramePtr first;  // properties of the first frame, without samples
};

/// Converts the timestamps of input frames to strictly increasing timestamps of the output. For a
/// constant frame rate, the output timestamps are frame numbers.
class FrameTimes {
 public:
  /// Error messages contain the name of `codec` and the file name extension of `container`.
  FrameTimes(const AVCodec& codec, const Container& container, bool constant_rate, AVRational tick)
      : codec_(codec.name),
        extension_(container.extension),
        frames_only_(container.frames_only()),
        numbered_(container.numbered),
        constant_rate_(constant_rate),
        keeps_start_(container.keep_times),
        tick_(tick) {}

  /// Returns the timestamp of the next frame, in ticks of the output. The caller must pass the
  /// frames in presentation order.
  /// @throws InvalidArgument  the output cannot represent the time of the frame
  std::int64_t next(const Frame& frame);
  std::int64_t frames() const { return frames_; }
  /// Returns whether the constant frame rate of the output changed the timestamps of some frames.
  bool has_moved_times() const { return moved_; }

 private:
  std::string codec_, extension_;
  bool frames_only_, numbered_, constant_rate_, keeps_start_, moved_ = false;
  AVRational tick_;
  std::int64_t frames_ = 0, first_pts_ = 0, last_ = AV_NOPTS_VALUE;
};

class Encoder {
 public:
  /// @param leftover  receives the entries of options.vopts that the encoder does not know
  /// @param times  timestamps so far: `times()` of the encoder of the previous segment; null for
  ///     the first segment
  Encoder(const EncoderChoice& choice, const Container& container, const EncoderInput& input,
          const SinkOptions& options, Dictionary& leftover,
          std::shared_ptr<FrameTimes> times = nullptr);

  const AVCodecContext& context() const { return *context_; }
  const EncoderChoice& choice() const { return choice_; }
  /// Encodes the next frame in presentation order.
  /// @throws IoError, InvalidArgument
  void send(const Frame& frame);
  void send_end();
  /// Returns the next encoded packet, in the time base of `context()`; null if no packet is ready.
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
  std::optional<PicturePool> unrotated_;
  FramePacker packer_;
  int rotation_;
  std::int64_t sent_ = 0, received_ = 0;  // number of frames and packets
  std::int64_t first_time_ = 0;
  bool ended_ = false;
  bool mark_fields_ = false;  // only the container states interlacing
  struct PendingFrame {
    std::int64_t duration = 0;
    std::vector<std::uint8_t> messages;
  };
  std::map<std::int64_t, PendingFrame> pending_;  // frames inside the encoder, by time
};

/// Opens the first encoder in `choices` that accepts the size of the source's frames, or throws the
/// error of the first choice. `leftover` receives the entries of options.vopts that the encoder
/// does not know.
std::unique_ptr<Encoder> open_encoder(const std::vector<EncoderChoice>& choices,
                                      const Container& container, const FileSource& source,
                                      const SinkOptions& options, Dictionary& leftover);

}  // namespace lull::io
