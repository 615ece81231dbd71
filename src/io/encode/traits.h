#pragma once
// Tables of all containers and encoders that lull knows by name. Code that depends on the container
// or encoder uses the fields of these tables and never compares names.

#include <cstdint>
#include <span>
#include <string_view>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Properties of pictures in addition to their samples. A field is true if the property is kept.
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

/// An option of FFmpeg.
struct Setting {
  const char *key, *value;
};

using Names = std::span<const std::string_view>;

struct ContainerTraits {
  std::string_view name;  // FFmpeg's name of the muxer; empty: any that is not in the table

  // Properties of an input that files of this container keep if FFmpeg 5.1 to 6.1 write and read
  // them. Tests compare these fields with ffprobe.
  PictureProperties picture{};  // stated by the container itself, for every encoder
  bool chapters = false;
  bool languages = false;
  // If true, a container that stores languages also stores one for the video.
  bool video_language = true;
  bool stream_titles = false;
  bool timecode = false;
  int dispositions = 0;
  enum class Tags { none, listed, listed_and_free, all };
  // Tags of the file. listed_and_free: tags that are not listed need FFmpeg's use_metadata_tags.
  Tags tags = Tags::none;
  Names listed_tags{};

  // Times
  bool constant_rate = false;      // frames have a constant rate
  bool frames_only = false;        // frames have a constant rate and none can be omitted
  bool presentation_times = true;  // false: stores none
  bool keeps_start = true;         // keeps the time of the first frame
  bool milliseconds = false;       // rounds times to milliseconds
  // False: FFmpeg shifts all streams if B frames cause negative decoding times.
  bool negative_decoding_times = false;
  enum class NegativeTimes { shifted_by_ffmpeg, single_stream, kept };
  NegativeTimes negative_times =
      NegativeTimes::shifted_by_ffmpeg;    // single_stream: kept if there is only one stream
  const char* timescale_option = nullptr;  // sets the time scale of stream starts

  // Streams
  bool (*holds)(AVCodecID) = nullptr;           // replaces FFmpeg's own answer where that is wrong
  bool attachments = false;                     // can hold files, also covers
  AVCodecID text_subtitles = AV_CODEC_ID_NONE;  // replaces text subtitles of other formats
  /// Which packets of preroll (edit_list_filter.h) are copied. Preroll is needed for decoding and
  /// must not be heard. `all`: the container has an edit list that hides it. `one_packet`: times
  /// before 0 hide one packet, which is shorter than the error of a cut. `none`: preroll would make
  /// other streams begin later.
  enum class Preroll { none, one_packet, all };
  Preroll preroll = Preroll::none;
  std::uint32_t hevc_tag = 0;  // for HEVC that lull encodes; 0: FFmpeg's choice
  bool file_timecode = false;  // the time code belongs to the file, not to a stream

  // Samples
  std::span<const char* const> encoders{};       // names, best first; empty: chosen by the samples
  std::span<const char* const> pipe_encoders{};  // encoders for a pipe
  const AVPixelFormat* raw_formats = nullptr;    // formats of unencoded samples; null: all
  bool raw_frames = false;  // nothing is encoded, and lull itself writes the frames

  std::span<const Setting> settings{};  // defaults for options of the muxer
};

/// Returns the containers that lull knows.
std::span<const ContainerTraits> container_table();
/// Returns the traits of a muxer. A muxer that is not in the table counts as one that keeps only
/// streams.
const ContainerTraits& container_traits(std::string_view muxer);

/// The encoders for an extension of still pictures.
struct StillTraits {
  std::string_view extension;
  const char* encoder;
  // True: a file can also hold an animation, which another encoder writes.
  bool animated = false;
  const char* grey_encoder = nullptr;      // for grey samples; null: `encoder`
  const char* no_layout_advice = nullptr;  // advice for layouts without alpha that it cannot hold
  bool is_tiff = false;  // without options for an encoder, libtiff writes the file
};
/// Returns the traits of an extension; null if it is not one of still pictures.
const StillTraits* still_traits(std::string_view extension);

struct EncoderTraits {
  std::string_view name;               // FFmpeg's name; empty: any other encoder of this codec
  AVCodecID codec = AV_CODEC_ID_NONE;  // NONE: any other encoder

  PictureProperties picture{};  // stated by the bit stream
  int picture_from_level = 0;   // `picture` holds from this level of the format on

  int max_threads = 16;  // with more threads, the encoder fails or gains nothing
  // Its output depends on the machine's number of cores, for any number of threads.
  bool depends_on_cores = false;

  double default_crf = -1;  // visually lossless; negative: not set
  double max_crf = 63;
  std::span<const Setting> settings{};        // defaults of options
  std::span<const Setting> lossy_settings{};  // further defaults for lossy encoding
  std::span<const Setting> rgb_settings{};    // further defaults for RGB samples
  bool percent_quality = false;         // its quality is in percent, unlike FFmpeg's own encoders
  std::span<const Setting> lossless{};  // options of the lossless mode; empty: see lossless_params.

  // Encoders with a second syntax for options, "key=value:key=value":
  const char* params = nullptr;           // the option that contains them
  const char* quiet_params = nullptr;     // keeps the encoder from writing to stderr
  const char* lossless_params = nullptr;  // selects the lossless mode
  /// The option for film grain tables, and their key in it; null: the encoder does not support
  /// them.
  const char *grain_option = nullptr, *grain_key = nullptr;
  const char *mastering_key = nullptr, *light_level_key = nullptr;  // HDR10

  // Workarounds for faults; encoder_options.cpp and encoder.cpp describe them.
  bool named_presets = false;  // reports unknown presets and tunes on stderr.
  bool broken_avx512 = false;
  bool broken_small_cutree = false;
  // With at most this many frames, decoding times are uninitialised.
  int uninitialised_dts_frames = 0;
  bool sliced = false;  // encodes slices with checksums if the size allows them
};

/// Returns the encoders that lull knows.
std::span<const EncoderTraits> encoder_table();
/// Returns the traits for the encoder's name, else for its codec, else for any encoder.
EncoderTraits encoder_traits(const AVCodec& encoder);

/// Returns the number of threads for an encoder on a machine with `cores` cores. `asked` 0: one
/// thread per core.
int threads_of(const EncoderTraits& encoder, int asked, int cores);

}  // namespace lull::io
