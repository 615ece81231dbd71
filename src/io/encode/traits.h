#pragma once
// Tables of containers and encoders. No other code compares the names of containers or encoders.

#include <cstdint>
#include <span>
#include <string_view>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Properties of pictures that a container or an encoder can store in addition to the samples.
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

  // Properties of an input that FFmpeg 5.1 to 6.1 writes to the container and reads again
  // unchanged. Tests compare the values with the output of ffprobe.
  PictureProperties picture{};  // stated by the container itself, for every encoder
  bool chapters = false;
  bool languages = false;
  // Whether `languages` includes the language of the video stream.
  bool video_language = true;
  bool stream_titles = false;
  bool timecode = false;
  int dispositions = 0;
  enum class Tags { none, listed, listed_and_free, all };
  // The tags of the file that the container stores:
  // - `listed`: the tags in `listed_tags`
  // - `listed_and_free`: all tags; tags outside `listed_tags` need FFmpeg's option
  //   use_metadata_tags
  Tags tags = Tags::none;
  Names listed_tags{};

  // Storage of timestamps
  bool constant_rate = false;      // the frames of a file have a constant rate
  bool frames_only = false;        // frames have a constant rate and none can be omitted
  bool presentation_times = true;  // false: the container stores no presentation times
  bool keeps_start = true;         // keeps the time of the first frame
  bool milliseconds = false;       // rounds times to milliseconds
  // Whether the container can store the negative DTS of B frames. If not, FFmpeg shifts the time
  // stamps of all streams.
  bool negative_decoding_times = false;
  enum class NegativeTimes { shifted_by_ffmpeg, single_stream, kept };
  NegativeTimes negative_times =
      NegativeTimes::shifted_by_ffmpeg;    // single_stream: kept in files with only one stream
  const char* timescale_option = nullptr;  // option that sets the time scale of stream starts

  // Streams in the container
  bool (*holds)(AVCodecID) = nullptr;  // replaces FFmpeg's own answer where that is wrong
  // Whether the container can contain attached files and cover pictures.
  bool attachments = false;
  // How the container stores cover pictures. FFmpeg's muxers for MP4 and MOV write covers only
  // together with iTunes tags (`with_listed_tags`). If the tags have another form, these muxers
  // omit the covers without a message.
  enum class Covers { as_stream, with_listed_tags, none };
  Covers covers = Covers::as_stream;
  // The codec to which lull converts text subtitles that the container cannot store unchanged.
  AVCodecID text_subtitles = AV_CODEC_ID_NONE;
  /// The preroll packets that the muxer copies. A decoder needs preroll packets to start, but a
  /// player must not play them.
  /// - `all`: all packets; an edit list hides them.
  /// - `one_packet`: the last packet; its negative timestamp makes players skip it.
  /// - `none`: no packet, because preroll would delay the other streams.
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
/// Returns the traits of a muxer. For a muxer that is not in the table, lull assumes that it can
/// store streams but none of the properties.
const ContainerTraits& container_traits(std::string_view muxer);

/// Returns whether `key` is one of the container's listed tags, ignoring case.
bool is_listed_tag(const ContainerTraits& container, const char* key);
/// Returns whether MP4 or MOV must store some of `tags` as custom tags, because the format has no
/// standard tags for them. Returns false for all other containers.
bool needs_free_tags(const ContainerTraits& container, const AVDictionary* tags);

/// The encoders for one still picture format, identified by its file name extension.
struct StillTraits {
  std::string_view extension;
  const char* encoder;
  // Whether the format supports animations, for which lull uses an encoder other than `encoder`.
  bool animated = false;
  const char* grey_encoder = nullptr;      // for grey samples; null: `encoder`
  const char* no_layout_advice = nullptr;  // suggestion for layouts that the format cannot store
  bool is_tiff = false;  // if the user sets no encoder options, libtiff writes the file
};
/// Returns the traits for a file name extension; null if the extension does not belong to a still
/// picture format.
const StillTraits* still_traits(std::string_view extension);

struct EncoderTraits {
  std::string_view name;               // FFmpeg's name; empty: any other encoder of this codec
  AVCodecID codec = AV_CODEC_ID_NONE;  // NONE: any other encoder

  PictureProperties picture{};  // properties stated by the bit stream
  int picture_from_level = 0;   // `picture` applies from this level of the format on

  int max_threads = 16;  // with more threads, the encoder fails or is not faster
  // Whether the encoder's output depends on the number of cores even for a fixed number of threads.
  bool depends_on_cores = false;

  double default_crf = -1;  // crf that is visually lossless; negative: not set
  double max_crf = 63;
  std::span<const Setting> settings{};        // defaults of options
  std::span<const Setting> lossy_settings{};  // further defaults for lossy encoding
  std::span<const Setting> rgb_settings{};    // further defaults for RGB samples
  // Whether the encoder's quality is a percentage.
  bool percent_quality = false;
  /// Default quality for lossy encoders without crf, as a value of the option -q:v of the ffmpeg
  /// command. Small values mean good quality, except for Theora.
  int default_quality = 2;
  /// Options that set the quality instead of `default_quality`, for encoders that interpret
  /// FFmpeg's quality in another way.
  std::span<const Setting> quality_settings{};
  std::span<const Setting> lossless{};  // options of the lossless mode; empty: see lossless_params.

  // Options as "key=value:key=value"
  const char* params = nullptr;           // name of the option with this syntax
  const char* quiet_params = nullptr;     // entries that keep the encoder from writing to stderr
  const char* lossless_params = nullptr;  // entries that select the lossless mode
  /// The encoder option for film grain tables, and the key in its syntax "key=value:key=value".
  /// Null if the encoder does not support film grain tables.
  const char *grain_option = nullptr, *grain_key = nullptr;
  const char *mastering_key = nullptr, *light_level_key = nullptr;  // HDR10

  // Workarounds for faults of encoders.
  bool named_presets = false;  // the encoder reports unknown presets and tunes on stderr
  bool broken_avx512 = false;
  /// Entries of `params` for video whose bottom field comes first. These entries tell the encoder
  /// the order of the fields early enough for the SEI messages of the first frames.
  const char* bottom_first_params = nullptr;
  bool broken_small_cutree = false;
  // The encoder returns uninitialised DTS for videos of at most this number of frames.
  int uninitialised_dts_frames = 0;
  bool sliced = false;  // the encoder makes slices with checksums if the size allows
};

/// Returns the table of encoders.
std::span<const EncoderTraits> encoder_table();
/// Returns the traits of an encoder by its name. If the name is not in the table, returns the
/// traits of the encoder's codec, or default traits.
EncoderTraits encoder_traits(const AVCodec& encoder);

/// Returns the number of threads for an encoder on a computer with `cores` CPU cores. The result is
/// `asked`, or `cores` if `asked` is 0, but at most EncoderTraits::max_threads.
int threads_of(const EncoderTraits& encoder, int asked, int cores);

}  // namespace lull::io
