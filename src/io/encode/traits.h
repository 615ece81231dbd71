#pragma once
// All that lull knows of containers and encoders by name, in one table each. Whoever depends on
// which of them it is asks these fields and compares no names.

#include <cstdint>
#include <span>
#include <string_view>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// What is said of pictures beside their samples.
struct PictureProperties {
  bool colour = false;  // primaries, transfer and matrix
  bool range = false;   // full or limited
  bool chroma_location = false;
  bool aspect = false;  // of a sample
  bool static_hdr = false;   // HDR10: mastering display, content light level
  bool rotation = false;
  bool dynamic_hdr = false;  // HDR10+, frame by frame
  bool captions = false;     // A53, frame by frame
  bool fields = false;       // their order
};

/// An option of FFmpeg.
struct Setting {
  const char *key, *value;
};

using Names = std::span<const std::string_view>;

struct ContainerTraits {
  std::string_view name;  // FFmpeg's, of the muxer; empty: any that is not in the table

  // What it keeps of an input, as FFmpeg 5.1 to 6.1 write and read it; the tests hold it against
  // ffprobe.
  PictureProperties picture{};  // what it states itself, whatever the encoder does
  bool chapters = false;
  bool languages = false;
  bool video_language = true;  // where there are languages: the video's, too
  bool stream_titles = false;
  bool timecode = false;
  int dispositions = 0;
  enum class Tags { none, listed, listed_and_free, all };
  Tags tags = Tags::none;  // of the file; listed_and_free: others need FFmpeg's use_metadata_tags
  Names listed_tags{};

  // Times
  bool constant_rate = false;            // frames follow each other at one rate
  bool frames_only = false;              // ... and none can be left out
  bool presentation_times = true;        // else pictures are stored in their order
  bool keeps_start = true;               // the time of the first frame
  bool milliseconds = false;             // times are rounded to these
  bool negative_decoding_times = false;  // else FFmpeg moves all streams, if B frames need some
  enum class NegativeTimes { shifted_by_ffmpeg, single_stream, kept };
  NegativeTimes negative_times = NegativeTimes::shifted_by_ffmpeg;  // times that are; alone: of one stream alone
  const char* timescale_option = nullptr;          // in which it says where streams begin

  // Streams
  bool (*holds)(AVCodecID) = nullptr;           // where FFmpeg's own answer is not to be trusted
  bool attachments = false;                     // files; covers are such, too
  AVCodecID text_subtitles = AV_CODEC_ID_NONE;  // what text becomes that it does not hold
  /// Of packets that decoders need and of which nothing is to be heard (trims.h): all where an edit
  /// list says so; where there is none, but times before 0, one, which is less than what a cut may
  /// be off by; else none, as other streams would begin later for it.
  enum class Preroll { none, one_packet, all };
  Preroll preroll = Preroll::none;
  std::uint32_t hevc_tag = 0;  // of HEVC that lull encodes; 0: FFmpeg's choice
  bool file_timecode = false;  // it is the file's, not a stream's

  // Samples
  std::span<const char* const> encoders{};       // by name, best first; empty: by the samples
  std::span<const char* const> pipe_encoders{};  // in a pipe
  const AVPixelFormat* raw_formats = nullptr;    // of samples as they are; null: any
  bool raw_frames = false;  // nothing is encoded, and lull itself writes the frames

  std::span<const Setting> settings{};  // of the muxer, where the user does not say
};

/// Those that lull knows.
std::span<const ContainerTraits> container_table();
/// Of a muxer; one that is not in the table counts as if it held nothing but streams.
const ContainerTraits& container_traits(std::string_view muxer);

/// What an extension of still pictures stands for.
struct StillTraits {
  std::string_view extension;
  const char* encoder;
  const char* grey_encoder = nullptr;      // for grey samples, if it is another
  const char* no_layout_advice = nullptr;  // where it cannot hold a layout without alpha
};
/// Null: `extension` is none of still pictures.
const StillTraits* still_traits(std::string_view extension);

struct EncoderTraits {
  std::string_view name;               // FFmpeg's; empty: any other of this codec
  AVCodecID codec = AV_CODEC_ID_NONE;  // NONE: any other encoder

  PictureProperties picture{};  // what its bit stream states
  int picture_from_level = 0;   // ... from this level of the format on

  int max_threads = 16;      // beyond, it refuses or gains nothing
  bool depends_on_cores = false;  // of the machine, whatever number of threads it is told

  double default_crf = -1;  // visually lossless; below 0: none is set
  double max_crf = 63;
  std::span<const Setting> settings{};        // where the user does not say
  std::span<const Setting> lossy_settings{};  // ... unless it is lossless
  std::span<const Setting> lossless{};  // options of the lossless mode; empty: see lossless_params

  // Encoders with a second language of options, "key=value:key=value"
  const char* params = nullptr;           // the option that takes it
  const char* quiet_params = nullptr;     // it would write to stderr by itself
  const char* lossless_params = nullptr;  // of the lossless mode
  /// The option that takes those, and the key of a film grain table in it; null: it has none.
  const char *grain_option = nullptr, *grain_key = nullptr;
  const char *mastering_key = nullptr, *light_level_key = nullptr;  // HDR10

  // Faults that are worked around; encoder_options.cpp and encoder.cpp say which
  bool named_presets = false;  // complains on stderr of presets and tunes that it does not know
  bool broken_avx512 = false;
  bool broken_small_cutree = false;
  int uninitialised_dts_frames = 0;  // if there are no more frames than so many
  bool sliced = false;             // in slices with checksums, where the size allows them
};

/// Those that lull knows.
std::span<const EncoderTraits> encoder_table();
/// That of its name, else of its codec, else of any.
EncoderTraits encoder_traits(const AVCodec& encoder);

/// The threads of an encoder on a machine of so many cores. `asked` for none: one for each core.
int threads_of(const EncoderTraits& encoder, int asked, int cores);

}  // namespace lull::io
