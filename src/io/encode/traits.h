#pragma once
// Tables of containers and encoders. Other code reads these tables, and never compares the names of
// containers or encoders.

#include <cstdint>
#include <span>
#include <string_view>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Properties of pictures in addition to their samples. A field is true if the container or encoder
/// can store the property.
struct PictureProperties {
  bool colour = false;  // primaries, transfer and matrix
  bool range = false;   // full or limited range
  bool chroma_location = false;
  bool aspect = false;      // aspect ratio of the samples
  bool static_hdr = false;  // HDR10: mastering display, content light level
  bool rotation = false;
  bool dynamic_hdr = false;  // HDR10+, for each frame
  bool captions = false;     // A53, for each frame
  bool fields = false;       // order of the fields
};

/// An FFmpeg option and its value.
struct Setting {
  const char *key, *value;
};

using Names = std::span<const std::string_view>;

struct ContainerTraits {
  std::string_view name;  // FFmpeg's name of the muxer; empty: any muxer that is not in the table

  // Properties of an input that remain after FFmpeg 5.1 to 6.1 has written the container and read
  // it again. Tests compare the values with the output of ffprobe.
  PictureProperties picture{};  // stated by the container itself, for every encoder
  bool chapters = false;
  bool languages = false;
  // True if the container also stores the language of the video stream. The value matters only if
  // `languages` is true.
  bool video_language = true;
  bool stream_titles = false;
  bool timecode = false;
  int dispositions = 0;
  enum class Tags { none, listed, listed_and_free, all };
  // Tags of the file that the container stores. `listed`: only the tags in `listed_tags`.
  // `listed_and_free`: all tags, but the muxer needs FFmpeg's option use_metadata_tags to store
  // tags that are not in `listed_tags`.
  Tags tags = Tags::none;
  Names listed_tags{};

  // Storage of time stamps
  bool constant_rate = false;      // the frames of a file have a constant rate
  bool frames_only = false;        // frames have a constant rate and none can be omitted
  bool presentation_times = true;  // false: the container stores no presentation times
  bool keeps_start = true;         // keeps the time of the first frame
  bool milliseconds = false;       // rounds times to milliseconds
  // Whether the container can store the negative decoding times of B frames. If the container
  // cannot, FFmpeg shifts the time stamps of all streams.
  bool negative_decoding_times = false;
  enum class NegativeTimes { shifted_by_ffmpeg, single_stream, kept };
  NegativeTimes negative_times =
      NegativeTimes::shifted_by_ffmpeg;    // single_stream: kept in files with only one stream
  const char* timescale_option = nullptr;  // option that sets the time scale of stream starts

  // Streams in the container
  bool (*holds)(AVCodecID) = nullptr;  // replaces FFmpeg's own answer where that is wrong
  // Whether the container can contain attached files, including cover pictures.
  bool attachments = false;
  // The format to which lull converts text subtitles of other formats.
  AVCodecID text_subtitles = AV_CODEC_ID_NONE;
  /// The packets of preroll that the muxer copies. A decoder needs preroll in order to start, but
  /// players must not play it.
  /// `all`: all packets, which an edit list of the container hides.
  /// `one_packet`: only the last packet, which players do not play because its time is before 0.
  /// `none`: no packets, because preroll would delay the other streams.
  enum class Preroll { none, one_packet, all };
  Preroll preroll = Preroll::none;
  std::uint32_t hevc_tag = 0;  // codec tag for HEVC that lull encodes; 0: FFmpeg chooses
  bool file_timecode = false;  // the time code is a property of the file, not of a stream

  // Encoders and pixel formats
  std::span<const char* const> encoders{};       // names, best first; empty: chosen by the samples
  std::span<const char* const> pipe_encoders{};  // encoders for a pipe
  const AVPixelFormat* raw_formats = nullptr;    // pixel formats of raw samples; null: all
  bool raw_frames = false;  // nothing is encoded, and lull itself writes the frames

  std::span<const Setting> settings{};  // defaults for options of the muxer
};

/// Returns the table of containers.
std::span<const ContainerTraits> container_table();
/// Returns the traits of a muxer. For a muxer that is not in the table, lull assumes that the
/// container stores nothing except streams.
const ContainerTraits& container_traits(std::string_view muxer);

/// The encoders for a still picture with a certain file name extension.
struct StillTraits {
  std::string_view extension;
  const char* encoder;
  // Whether a file of the format can also contain an animation. lull uses another encoder for
  // animations.
  bool animated = false;
  const char* grey_encoder = nullptr;      // for grey samples; null: `encoder`
  const char* no_layout_advice = nullptr;  // suggestion for layouts that the format cannot store
  bool is_tiff = false;  // if the user sets no encoder options, libtiff writes the file
};
/// Returns the traits of a file name extension; null if no still picture format has this extension.
const StillTraits* still_traits(std::string_view extension);

struct EncoderTraits {
  std::string_view name;               // FFmpeg's name; empty: any other encoder of this codec
  AVCodecID codec = AV_CODEC_ID_NONE;  // NONE: any other encoder

  PictureProperties picture{};  // properties stated by the bit stream
  int picture_from_level = 0;   // `picture` applies from this level of the format on

  int max_threads = 16;  // with more threads, the encoder fails or is not faster
  // Whether the output of the encoder depends on the number of cores of the machine even for a
  // given number of threads.
  bool depends_on_cores = false;

  double default_crf = -1;  // crf that is visually lossless; negative: not set
  double max_crf = 63;
  std::span<const Setting> settings{};        // defaults of options
  std::span<const Setting> lossy_settings{};  // further defaults for lossy encoding
  std::span<const Setting> rgb_settings{};    // further defaults for RGB samples
  // Whether the encoder's quality is a percentage.
  bool percent_quality = false;
  std::span<const Setting> lossless{};  // options of the lossless mode; empty: see lossless_params.

  // Options as "key=value:key=value"
  const char* params = nullptr;           // name of the option with this syntax
  const char* quiet_params = nullptr;     // entries that keep the encoder from writing to stderr
  const char* lossless_params = nullptr;  // entries that select the lossless mode
  /// The encoder option for film grain tables, and the key of the table in the syntax
  /// "key=value:key=value". A null pointer means that the encoder does not support film grain
  /// tables.
  const char *grain_option = nullptr, *grain_key = nullptr;
  const char *mastering_key = nullptr, *light_level_key = nullptr;  // HDR10

  // Workarounds for faults of encoders.
  bool named_presets = false;  // the encoder reports unknown presets and tunes on stderr
  bool broken_avx512 = false;
  bool broken_small_cutree = false;
  // The encoder returns uninitialised decoding times for videos of at most this number of frames.
  int uninitialised_dts_frames = 0;
  bool sliced = false;  // the encoder makes slices with checksums if the size allows
};

/// Returns the table of encoders.
std::span<const EncoderTraits> encoder_table();
/// Returns the traits of an encoder by its name. If the name is not in the table, the codec selects
/// the traits. Encoders of other codecs get default traits.
EncoderTraits encoder_traits(const AVCodec& encoder);

/// Returns the number of threads for an encoder on a machine with `cores` cores. If `asked` is 0,
/// the encoder gets one thread for each core, up to EncoderTraits::max_threads.
int threads_of(const EncoderTraits& encoder, int asked, int cores);

}  // namespace lull::io
