// The table of containers and of the input properties that they can store.

#include <algorithm>
#include <array>
#include <cstring>

extern "C" {
#include <libavutil/avstring.h>
}

#include "io/encode/traits.h"
#include "io/ffmpeg/tags.h"

namespace lull::io {
namespace {

using Tags = ContainerTraits::Tags;
using NegativeTimes = ContainerTraits::NegativeTimes;
using Preroll = ContainerTraits::Preroll;
using Covers = ContainerTraits::Covers;

constexpr int common = AV_DISPOSITION_DEFAULT | AV_DISPOSITION_FORCED | AV_DISPOSITION_COMMENT |
                       AV_DISPOSITION_DUB | AV_DISPOSITION_HEARING_IMPAIRED |
                       AV_DISPOSITION_VISUAL_IMPAIRED;
// FFmpeg supports the rotation in Matroska files from version 6.1 on.
constexpr bool matroska_rotation = LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 16, 100);

// Tags that FFmpeg's muxers for MP4, MOV and AVI store by default.
constexpr std::array<std::string_view, 27> mp4_tags = {
    "title",        "artist",        "album_artist",
    "album",        "composer",      "date",
    "comment",      "genre",         "copyright",
    "description",  "synopsis",      "show",
    "episode_id",   "network",       "lyrics",
    "grouping",     "keywords",      "track",
    "disc",         "hd_video",      "media_type",
    "episode_sort", "season_number", "compilation",
    "timecode",     "creation_time", "gapless_playback"};
constexpr std::array<std::string_view, 12> mov_tags = {
    "title",     "artist",   "album", "date",  "comment",       "genre",
    "copyright", "location", "make",  "model", "creation_time", "timecode"};
constexpr std::array<std::string_view, 10> avi_tags = {
    "title",     "artist", "comment",    "date",     "genre",
    "copyright", "track",  "encoded_by", "language", "timecode"};

// Pixel formats that FFmpeg's Y4M muxer supports. lull needs this list, because the muxer rejects
// other formats only after lull has opened the encoder.
constexpr AVPixelFormat y4m_formats[] = {
    AV_PIX_FMT_GRAY8,     AV_PIX_FMT_GRAY9,     AV_PIX_FMT_GRAY10,    AV_PIX_FMT_GRAY12,
    AV_PIX_FMT_GRAY16,    AV_PIX_FMT_YUV411P,   AV_PIX_FMT_YUV420P,   AV_PIX_FMT_YUV422P,
    AV_PIX_FMT_YUV444P,   AV_PIX_FMT_YUV420P9,  AV_PIX_FMT_YUV422P9,  AV_PIX_FMT_YUV444P9,
    AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P10, AV_PIX_FMT_YUV444P10, AV_PIX_FMT_YUV420P12,
    AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUV444P12, AV_PIX_FMT_YUV420P14, AV_PIX_FMT_YUV422P14,
    AV_PIX_FMT_YUV444P14, AV_PIX_FMT_YUV420P16, AV_PIX_FMT_YUV422P16, AV_PIX_FMT_YUV444P16,
    AV_PIX_FMT_NONE};

// Pixel formats that FFmpeg writes to NUT and reads again unchanged. FFmpeg's NUT demuxer confuses
// some formats that are not in this list.
constexpr AVPixelFormat nut_formats[] = {
    AV_PIX_FMT_GRAY8,     AV_PIX_FMT_GRAY10,    AV_PIX_FMT_GRAY12,    AV_PIX_FMT_GRAY16,
    AV_PIX_FMT_YUV420P,   AV_PIX_FMT_YUV422P,   AV_PIX_FMT_YUV444P,   AV_PIX_FMT_YUV420P9,
    AV_PIX_FMT_YUV422P9,  AV_PIX_FMT_YUV444P9,  AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P10,
    AV_PIX_FMT_YUV444P10, AV_PIX_FMT_YUV420P12, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUV444P12,
    AV_PIX_FMT_YUV420P14, AV_PIX_FMT_YUV422P14, AV_PIX_FMT_YUV444P14, AV_PIX_FMT_YUV420P16,
    AV_PIX_FMT_YUV422P16, AV_PIX_FMT_YUV444P16, AV_PIX_FMT_RGB24,     AV_PIX_FMT_RGBA,
    AV_PIX_FMT_GBRP9,     AV_PIX_FMT_GBRP10,    AV_PIX_FMT_GBRP12,    AV_PIX_FMT_GBRP14,
    AV_PIX_FMT_GBRP16,    AV_PIX_FMT_RGB48,     AV_PIX_FMT_RGBA64,    AV_PIX_FMT_GBRAP10,
    AV_PIX_FMT_GBRAP12,   AV_PIX_FMT_GBRAP16,   AV_PIX_FMT_YUVA420P,  AV_PIX_FMT_YUVA422P,
    AV_PIX_FMT_YUVA444P,  AV_PIX_FMT_YA8,       AV_PIX_FMT_NONE};

// Returns whether MPEG-TS has a stream type for the codec. FFmpeg's muxer reports no error for a
// codec without a stream type, but no program can read such a stream.
bool has_transport_type(AVCodecID id) {
  constexpr std::array<AVCodecID, 24> known = {
      AV_CODEC_ID_MPEG1VIDEO,   AV_CODEC_ID_MPEG2VIDEO,   AV_CODEC_ID_MPEG4,
      AV_CODEC_ID_H264,         AV_CODEC_ID_HEVC,         AV_CODEC_ID_CAVS,
      AV_CODEC_ID_DIRAC,        AV_CODEC_ID_VC1,          AV_CODEC_ID_MP2,
      AV_CODEC_ID_MP3,          AV_CODEC_ID_AAC,          AV_CODEC_ID_AAC_LATM,
      AV_CODEC_ID_AC3,          AV_CODEC_ID_EAC3,         AV_CODEC_ID_DTS,
      AV_CODEC_ID_TRUEHD,       AV_CODEC_ID_OPUS,         AV_CODEC_ID_S302M,
      AV_CODEC_ID_DVB_SUBTITLE, AV_CODEC_ID_DVB_TELETEXT, AV_CODEC_ID_HDMV_PGS_SUBTITLE,
      AV_CODEC_ID_SMPTE_KLV,    AV_CODEC_ID_TIMED_ID3,    AV_CODEC_ID_SCTE_35};
  return std::ranges::find(known, id) != known.end();
}

// Returns whether Matroska can identify the codec: by a CodecID of Matroska, or by the codec's tag
// for AVI, WAV or QuickTime. FFmpeg's muxer fails for all other codecs, although FFmpeg reports
// that Matroska supports them.
bool has_matroska_name(AVCodecID id) {
  const AVOutputFormat* matroska = av_guess_format("matroska", nullptr, nullptr);
  if (matroska && avformat_query_codec(matroska, id, FF_COMPLIANCE_NORMAL) == 1) return true;
  const auto has_tag = [id](const AVCodecTag* list) {
    const std::array<const AVCodecTag*, 2> lists{list, nullptr};
    return av_codec_get_tag(lists.data(), id) != 0;
  };
  const AVMediaType type = avcodec_get_type(id);
  return (type == AVMEDIA_TYPE_AUDIO && has_tag(avformat_get_riff_audio_tags())) ||
         (type == AVMEDIA_TYPE_VIDEO &&
          (has_tag(avformat_get_riff_video_tags()) || has_tag(avformat_get_mov_video_tags())));
}

// Returns whether FFmpeg's Ogg muxer supports the codec. FFmpeg's muxer does not report which
// codecs it supports.
bool has_ogg_mapping(AVCodecID id) {
  constexpr std::array<AVCodecID, 6> known = {AV_CODEC_ID_THEORA, AV_CODEC_ID_VP8,
                                              AV_CODEC_ID_VORBIS, AV_CODEC_ID_OPUS,
                                              AV_CODEC_ID_FLAC,   AV_CODEC_ID_SPEEX};
  return std::ranges::find(known, id) != known.end();
}

constexpr const char* y4m_encoders[] = {"wrapped_avframe"};
// Encoders for NUT outputs to a pipe. The program that reads the pipe can decode both codecs fast.
constexpr const char* nut_pipe_encoders[] = {"rawvideo", "ffv1"};
constexpr const char* webm_encoders[] = {"libvpx-vp9"};
constexpr const char* webp_encoders[] = {"libwebp_anim"};
constexpr const char* apng_encoders[] = {"apng"};
constexpr const char* gif_encoders[] = {"gif"};
constexpr const char* avif_encoders[] = {"libaom-av1", "libsvtav1", "librav1e"};

// Without the option mpegts_copyts, FFmpeg's MPEG-TS muxer adds more than a second to every time
// stamp.
constexpr Setting mpegts_settings[] = {{"mpegts_copyts", "1"}};

// The codec tag that Apple's players require for HEVC.
constexpr std::uint32_t hvc1 = MKTAG('h', 'v', 'c', '1');

/// Returns the traits of a variant of MP4, such as 3GP, that FFmpeg's MP4 muxer writes. No test
/// checks these traits.
constexpr ContainerTraits mp4_variant(std::string_view name, Preroll preroll = Preroll::none) {
  return {.name = name,
          .negative_decoding_times = true,
          .text_subtitles = AV_CODEC_ID_MOV_TEXT,
          .preroll = preroll,
          .hevc_tag = hvc1};
}

constexpr ContainerTraits containers[] = {
    {.name = "matroska",
     .picture = {.colour = true,
                 .range = true,
                 .chroma_location = true,
                 .aspect = true,
                 .static_hdr = true,
                 .rotation = matroska_rotation,
                 .fields = true},
     .chapters = true,
     .languages = true,
     .stream_titles = true,
     .timecode = true,
     .dispositions = common | AV_DISPOSITION_ORIGINAL,
     .tags = Tags::all,
     .milliseconds = true,
     .negative_decoding_times = true,
     .negative_times = NegativeTimes::kept,
     .holds = has_matroska_name,
     .attachments = true,
     .text_subtitles = AV_CODEC_ID_SUBRIP,
     .preroll = Preroll::one_packet},
    {.name = "webm",
     .picture = {.colour = true,
                 .range = true,
                 .chroma_location = true,
                 .aspect = true,
                 .static_hdr = true,
                 .rotation = matroska_rotation},
     .chapters = true,
     .languages = true,
     .stream_titles = true,
     .timecode = true,
     .dispositions = AV_DISPOSITION_DEFAULT | AV_DISPOSITION_FORCED,
     .tags = Tags::all,
     .milliseconds = true,
     .negative_decoding_times = true,
     .negative_times = NegativeTimes::kept,
     .text_subtitles = AV_CODEC_ID_WEBVTT,
     .preroll = Preroll::one_packet,
     .encoders = webm_encoders},
    {.name = "mp4",
     .picture =
         {.colour = true, .aspect = true, .static_hdr = true, .rotation = true, .fields = true},
     .chapters = true,
     .languages = true,
     .timecode = true,
     .dispositions = common | AV_DISPOSITION_CAPTIONS | AV_DISPOSITION_DESCRIPTIONS,
     .tags = Tags::listed_and_free,
     .listed_tags = mp4_tags,
     .negative_decoding_times = true,
     .timescale_option = "movie_timescale",
     .covers = Covers::with_listed_tags,
     .text_subtitles = AV_CODEC_ID_MOV_TEXT,
     .preroll = Preroll::all,
     .hevc_tag = hvc1},
    {.name = "mov",
     .picture = {.colour = true, .aspect = true, .rotation = true, .fields = true},
     .chapters = true,
     .languages = true,
     .timecode = true,
     .dispositions = AV_DISPOSITION_DEFAULT,
     .tags = Tags::listed_and_free,
     .listed_tags = mov_tags,
     .negative_decoding_times = true,
     .timescale_option = "movie_timescale",
     .covers = Covers::none,
     .text_subtitles = AV_CODEC_ID_MOV_TEXT,
     .preroll = Preroll::all,
     .hevc_tag = hvc1},
    mp4_variant("ipod", Preroll::all),
    mp4_variant("psp"),
    mp4_variant("3gp", Preroll::all),
    mp4_variant("3g2", Preroll::all),
    mp4_variant("f4v"),
    mp4_variant("ismv"),
    {.name = "mpegts",
     .languages = true,
     .video_language = false,  // the language descriptor of MPEG-TS is for audio and subtitles only
     .dispositions = AV_DISPOSITION_HEARING_IMPAIRED | AV_DISPOSITION_VISUAL_IMPAIRED |
                     AV_DISPOSITION_CLEAN_EFFECTS,
     .holds = has_transport_type,
     .settings = mpegts_settings},
    // NUT cannot store negative PTS, but audio may have negative PTS. FFmpeg therefore shifts the
    // timestamps of NUT files with several streams.
    {.name = "nut",
     .picture = {.aspect = true},
     .chapters = true,
     .languages = true,
     .stream_titles = true,
     .timecode = true,
     .dispositions = AV_DISPOSITION_DEFAULT | AV_DISPOSITION_DUB | AV_DISPOSITION_ORIGINAL |
                     AV_DISPOSITION_COMMENT | AV_DISPOSITION_LYRICS | AV_DISPOSITION_KARAOKE,
     .tags = Tags::all,
     .negative_times = NegativeTimes::single_stream,
     .pipe_encoders = nut_pipe_encoders,
     .raw_formats = nut_formats},
    {.name = "avi",
     .picture = {.aspect = true},
     .stream_titles = true,
     .timecode = true,
     .tags = Tags::listed,
     .listed_tags = avi_tags,
     .constant_rate = true,
     .presentation_times = false,
     .keeps_start = false,
     .negative_decoding_times = true,
     .file_timecode = true},
    {.name = "yuv4mpegpipe",
     .picture = {.range = true, .aspect = true, .fields = true},
     .constant_rate = true,
     .frames_only = true,
     .negative_decoding_times = true,
     .encoders = y4m_encoders,
     .raw_formats = y4m_formats,
     .raw_frames = true},
    // Animated WebP stores picture durations in milliseconds, and no start time.
    {.name = "webp",
     .keeps_start = false,
     .milliseconds = true,
     .negative_decoding_times = true,
     .encoders = webp_encoders},
    {.name = "apng",
     .keeps_start = false,
     .negative_decoding_times = true,
     .encoders = apng_encoders},
    {.name = "gif",
     .keeps_start = false,
     .negative_decoding_times = true,
     .encoders = gif_encoders},
    {.name = "avif",
     .picture = {.colour = true, .range = true},
     .keeps_start = false,
     .negative_decoding_times = true,
     .encoders = avif_encoders},
    // For Theora and VP8, Ogg stores frame numbers instead of times, so the frame rate must be
    // constant.
    {.name = "ogg",
     .constant_rate = true,
     .negative_decoding_times = true,
     .holds = has_ogg_mapping},
    {.name = "ogv",
     .constant_rate = true,
     .negative_decoding_times = true,
     .holds = has_ogg_mapping},
    {.name = "mxf", .constant_rate = true, .negative_decoding_times = true},
    {.name = "gxf", .constant_rate = true, .negative_decoding_times = true},
    {.name = "dv", .constant_rate = true, .negative_decoding_times = true}};

// Traits of a container that is not in the table. No test checks the timestamps of such
// containers.
constexpr ContainerTraits unknown_container{.name = "", .negative_decoding_times = true};

constexpr StillTraits stills[] = {
    {"png", "png"},
    {"exr", "exr"},
    {"tif", "tiff", false, nullptr, nullptr, true},
    {"tiff", "tiff", false, nullptr, nullptr, true},
    {"pfm", "pfm"},
    {"pgm", "pgm", false, nullptr, "use .ppm for colour"},
    {"ppm", "ppm", false, nullptr, "use .pgm for grey"},
    // The extension "pnm" means "pgm" for grey input and "ppm" for colour input.
    {"pnm", "ppm", false, "pgm"},
    {"pam", "pam"},
    {"bmp", "bmp"},
    {"jpg", "mjpeg"},
    {"jpeg", "mjpeg"},
    {"webp", "libwebp", true},
    {"dpx", "dpx"}};

}  // namespace

std::span<const ContainerTraits> container_table() { return containers; }

const ContainerTraits& container_traits(std::string_view muxer) {
  const auto* found = std::ranges::find(containers, muxer, &ContainerTraits::name);
  return found == std::end(containers) ? unknown_container : *found;
}

bool is_listed_tag(const ContainerTraits& container, const char* key) {
  return std::ranges::any_of(container.listed_tags, [key](std::string_view listed) {
    return listed.size() == std::strlen(key) &&
           av_strncasecmp(listed.data(), key, listed.size()) == 0;
  });
}

bool needs_free_tags(const ContainerTraits& container, const AVDictionary* tags) {
  if (container.tags != Tags::listed_and_free) return false;
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(tags, "", entry, AV_DICT_IGNORE_SUFFIX)))
    if (!describes_the_file(entry->key, false) && !is_listed_tag(container, entry->key))
      return true;
  return false;
}

const StillTraits* still_traits(std::string_view extension) {
  const auto* found = std::ranges::find(stills, extension, &StillTraits::extension);
  return found == std::end(stills) ? nullptr : found;
}

}  // namespace lull::io
