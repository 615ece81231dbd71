#include "io/losses.h"

extern "C" {
#include <libavutil/display.h>
#include <libavutil/stereo3d.h>
}

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>

#include "io/picture_side_data.h"
#include "io/tags.h"

namespace lull::io {
namespace {

using Names = std::span<const std::string_view>;

constexpr unsigned colour = 1, range = 2, chroma_location = 4, aspect = 8, light = 16,
                   rotation = 32, frame_light = 64, captions = 128, fields = 256;

// What FFmpeg 5.1 to 6.1 write and read back; tests/io/metadata_test.cpp holds it against ffprobe.
struct Carrier {
  std::string_view name;
  unsigned picture;  // properties of the video that the container itself states
  bool chapters, languages, stream_titles, timecode;
  int dispositions;
  bool negative_times;  // decoding may begin before 0
};

constexpr int common = AV_DISPOSITION_DEFAULT | AV_DISPOSITION_FORCED | AV_DISPOSITION_COMMENT |
                       AV_DISPOSITION_DUB | AV_DISPOSITION_HEARING_IMPAIRED |
                       AV_DISPOSITION_VISUAL_IMPAIRED;
// FFmpeg 5.1 reads and writes no rotation in Matroska, 6.1 does.
constexpr unsigned matroska_rotation =
    LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 16, 100) ? rotation : 0;

constexpr std::array<Carrier, 8> carriers{
    {{"matroska", colour | range | chroma_location | aspect | light | fields | matroska_rotation,
      true, true, true, true, common | AV_DISPOSITION_ORIGINAL, true},
     {"webm", colour | range | chroma_location | aspect | light | matroska_rotation, true, true,
      true, true, AV_DISPOSITION_DEFAULT | AV_DISPOSITION_FORCED, true},
     {"mp4", colour | aspect | light | rotation | fields, true, true, false, true,
      common | AV_DISPOSITION_CAPTIONS | AV_DISPOSITION_DESCRIPTIONS, true},
     {"mov", colour | aspect | rotation | fields, true, true, false, true, AV_DISPOSITION_DEFAULT,
      true},
     {"mpegts", 0, false, true, false, false,
      AV_DISPOSITION_HEARING_IMPAIRED | AV_DISPOSITION_VISUAL_IMPAIRED |
          AV_DISPOSITION_CLEAN_EFFECTS,
      false},
     {"nut", aspect, true, true, true, true,
      AV_DISPOSITION_DEFAULT | AV_DISPOSITION_DUB | AV_DISPOSITION_ORIGINAL |
          AV_DISPOSITION_COMMENT | AV_DISPOSITION_LYRICS | AV_DISPOSITION_KARAOKE,
      false},
     {"avi", aspect, false, false, true, true, 0, true},  // time code: of the file alone
     {"yuv4mpegpipe", aspect | range, false, false, false, false, 0, true}}};
constexpr Carrier stranger{"", 0, false, false, false, false, 0, false};

const Carrier& carrier_of(const AVOutputFormat& format) {
  const auto* found = std::ranges::find(carriers, std::string_view(format.name), &Carrier::name);
  return found == carriers.end() ? stranger : *found;
}

unsigned carried_by(const AVCodecContext& encoder) {
  const std::string_view name = encoder.codec->name;
  switch (encoder.codec_id) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC: {
      const bool x264 = name.starts_with("libx264");
      return colour | range | chroma_location | aspect | frame_light | captions |
             (x264 || name == "libx265" ? light : 0) | (x264 ? fields : 0);
    }
    case AV_CODEC_ID_MPEG2VIDEO:
      return colour | aspect | captions | fields;
    case AV_CODEC_ID_VP9:
      return range;
    case AV_CODEC_ID_AV1:
    case AV_CODEC_ID_VVC:
      return colour | range;
    case AV_CODEC_ID_FFV1:
    case AV_CODEC_ID_MPEG4:
      return aspect | fields;
    case AV_CODEC_ID_PRORES:
      return colour | aspect | fields;
    default:
      return 0;
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool is_one_of(std::string_view key, Names names) {
  return std::ranges::find(names, lower(key)) != names.end();
}

// Of FFmpeg's writer as it is by default.
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

/// Whether the video's frames are at times that no constant rate gives.
bool has_varying_rate(const AVStream& video) {
  return video.avg_frame_rate.num > 0 && video.r_frame_rate.num > 0 &&
         av_cmp_q(video.avg_frame_rate, video.r_frame_rate) != 0;
}

class Losses {
 public:
  Losses(const FileSource& source, const Container& container, const AVCodecContext& encoder)
      : source_(source),
        context_(source.demuxer().context()),
        encoder_(encoder),
        carrier_(carrier_of(*container.format)),
        name_("." + container.extension) {}

  std::vector<std::string> list() {
    picture();
    times();
    if (context_.nb_chapters > 0 && !carrier_.chapters && !source_.cut())
      lose(std::to_string(context_.nb_chapters) +
               (context_.nb_chapters == 1 ? " chapter" : " chapters"),
           name_);
    tags();
    for (unsigned i = 0; i < context_.nb_streams; ++i)
      if (context_.streams[i]->discard != AVDISCARD_ALL ||
          context_.streams[i] == &source_.demuxer().video())
        stream(*context_.streams[i]);
    return std::move(losses_);
  }

 private:
  void lose(const std::string& what, const std::string& who) {
    losses_.push_back(what + " (" + who + " cannot hold " + (what.ends_with("s") ? "them" : "it") +
                      ")");
  }

  void lose_of_picture(bool there, unsigned property, const char* what) {
    const unsigned kept = carrier_.picture | carried_by(encoder_);
    if (there && !(kept & property)) lose(what, std::string(encoder_.codec->name) + " in " + name_);
  }

  void picture() {
    const AVFrame& first = source_.first();
    const bool rgb = (av_pix_fmt_desc_get(encoder_.pix_fmt)->flags & AV_PIX_FMT_FLAG_RGB) != 0;
    lose_of_picture(first.color_primaries != AVCOL_PRI_UNSPECIFIED ||
                        first.color_trc != AVCOL_TRC_UNSPECIFIED ||
                        (!rgb && first.colorspace != AVCOL_SPC_UNSPECIFIED),
                    colour, "colour primaries, transfer and matrix");
    const bool full = first.color_range == AVCOL_RANGE_JPEG && !rgb;
    // Every reader takes for limited what says nothing.
    lose_of_picture(full && !is_full_range_yuv(encoder_.pix_fmt), range, "the full range");
    // Left is what readers take for granted.
    lose_of_picture(first.chroma_location != AVCHROMA_LOC_UNSPECIFIED &&
                        first.chroma_location != AVCHROMA_LOC_LEFT,
                    chroma_location, "the chroma location");
    const AVRational pixel = encoder_.sample_aspect_ratio;
    lose_of_picture(pixel.num > 0 && pixel.num != pixel.den, aspect, "the sample aspect ratio");
    lose_of_picture(has_picture_data(source_, AV_PKT_DATA_MASTERING_DISPLAY_METADATA) ||
                        has_picture_data(source_, AV_PKT_DATA_CONTENT_LIGHT_LEVEL),
                    light, "HDR10 mastering display and content light level");
    lose_of_picture(is_rotated(), rotation, "the rotation");
    lose_of_picture(source_.info().interlaced, fields, "the order of fields");
    if (has_picture_data(source_, AV_PKT_DATA_DOVI_CONF))
      lose("Dolby Vision metadata", "a denoised video");
    const AVStream& video = source_.demuxer().video();
    if (!carrier_.timecode && !source_.cut() &&
        (tag_of(video.metadata, "timecode") || tag_of(context_.metadata, "timecode")))
      lose("the time code", name_);
  }

  bool is_rotated() const {
    const auto matrix = picture_data(source_, AV_PKT_DATA_DISPLAYMATRIX);
    if (matrix.size() < 9 * sizeof(std::int32_t)) return false;
    std::array<std::int32_t, 9> m;
    std::copy_n(matrix.data(), sizeof m, reinterpret_cast<std::uint8_t*>(m.data()));
    return m != std::array<std::int32_t, 9>{1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30};
  }

  void times() {
    const AVStream& video = source_.demuxer().video();
    const AVRational tick = video.time_base;
    const bool milliseconds = carrier_.name == "matroska" || carrier_.name == "webm";
    // Times of a constant rate can be told again from rounded ones.
    if (milliseconds && has_varying_rate(video) && (tick.num * std::int64_t{1000}) % tick.den != 0)
      losses_.push_back("times of frames to less than 1 ms (" + name_ + " rounds them)");
    const bool delayed = encoder_.has_b_frames > 0 || encoder_.max_b_frames > 0;
    const std::int64_t start = video.start_time == AV_NOPTS_VALUE ? 0 : video.start_time;
    const double room = encoder_.framerate.num > 0 ? 2 / av_q2d(encoder_.framerate) : 0;
    if (!carrier_.negative_times && carrier_.name != stranger.name && delayed &&
        static_cast<double>(start) * av_q2d(tick) < room)
      losses_.push_back("the start time (in " + name_ +
                        " all streams begin later by as much as B frames need)");
    if (carrier_.name == "avi" && start != 0) lose("the start time", name_);
  }

  void tags() {
    constexpr std::array<std::string_view, 5> free = {"matroska", "webm", "nut", "mp4", "mov"};
    const bool keeps_all = is_one_of(carrier_.name, free);
    std::string lost;
    const AVDictionaryEntry* entry = nullptr;
    while ((entry = av_dict_get(context_.metadata, "", entry, AV_DICT_IGNORE_SUFFIX)))
      if (!describes_the_file(entry->key, false) && lower(entry->key) != "timecode" &&
          !(keeps_all || (carrier_.name == "avi" && is_one_of(entry->key, avi_tags))))
        lost.append(lost.empty() ? "" : ", ").append(entry->key);
    if (!lost.empty())
      losses_.push_back("tags of the file: " + lost + " (" + name_ + " cannot hold them)");
  }

  void stream(const AVStream& from) {
    const std::string of = " of stream " + std::to_string(from.index);
    const AVDictionaryEntry* language = tag_of(from.metadata, "language");
    const bool spoken = language && std::string_view(language->value) != "und";
    // The descriptor of MPEG-TS is for sound and subtitles.
    const bool mute = carrier_.name == "mpegts" && from.codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
    if (spoken && (mute || !carrier_.languages)) lose("the language" + of, name_);
    if (tag_of(from.metadata, "title") && !carrier_.stream_titles) lose("the title" + of, name_);
    const bool cover = (from.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
    // A stream is default or not by its place where nothing says so.
    constexpr int trifles = AV_DISPOSITION_DEFAULT | AV_DISPOSITION_ATTACHED_PIC |
                            AV_DISPOSITION_TIMED_THUMBNAILS | AV_DISPOSITION_METADATA;
    const int lost = from.disposition & ~carrier_.dispositions & ~trifles;
    std::string names;
    for (int bit = 1; bit != 0 && bit <= lost; bit <<= 1)
      if (lost & bit)
        if (const char* name = av_disposition_to_string(bit))
          names.append(names.empty() ? "" : ", ").append(name);
    if (!names.empty() && !cover) lose("the disposition " + names + of, name_);
  }

  const FileSource& source_;
  const AVFormatContext& context_;
  const AVCodecContext& encoder_;
  const Carrier& carrier_;
  std::string name_;
  std::vector<std::string> losses_;
};

}  // namespace

bool needs_free_tags(const AVOutputFormat& format, const AVDictionary* tags) {
  const std::string_view name = format.name;
  if (name != "mp4" && name != "mov") return false;
  const Names known = name == "mp4" ? Names(mp4_tags) : Names(mov_tags);
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(tags, "", entry, AV_DICT_IGNORE_SUFFIX)))
    if (!describes_the_file(entry->key, false) && !is_one_of(entry->key, known)) return true;
  return false;
}

std::vector<std::string> losses_of(const FileSource& source, const Container& container,
                                   const AVCodecContext& encoder) {
  return Losses(source, container, encoder).list();
}

std::string loss_of_frame(const AVFrame& properties, const AVCodecContext& encoder) {
  const unsigned kept = carried_by(encoder);
  const auto has = [&](AVFrameSideDataType type) {
    return av_frame_get_side_data(&properties, type) != nullptr;
  };
  const std::string who = std::string(" (") + encoder.codec->name + " cannot hold them)";
  if (has(AV_FRAME_DATA_A53_CC) && !(kept & captions)) return "A53 captions" + who;
  if (has(AV_FRAME_DATA_DYNAMIC_HDR_PLUS) && !(kept & frame_light))
    return "the HDR10+ metadata of frames" + who;
  return {};
}

}  // namespace lull::io
