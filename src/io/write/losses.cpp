#include "io/write/losses.h"

extern "C" {
#include <libavutil/display.h>
#include <libavutil/stereo3d.h>
}

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>

#include "io/encode/picture_side_data.h"
#include "io/ffmpeg/tags.h"
#include "io/write/start_shift.h"
#include "io/write/stream_handling.h"

namespace lull::io {
namespace {

using Property = bool PictureProperties::*;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

/// Returns the picture properties that the encoder's bitstream can store.
PictureProperties stated_by(const AVCodecContext& encoder) {
  const EncoderTraits traits = encoder_traits(*encoder.codec);
  const bool able = traits.picture_from_level == 0 || encoder.level >= traits.picture_from_level;
  return able ? traits.picture : PictureProperties{};
}

/// Returns whether the average frame rate differs from the nominal frame rate.
bool has_varying_rate(const AVStream& video) {
  return video.avg_frame_rate.num > 0 && video.r_frame_rate.num > 0 &&
         av_cmp_q(video.avg_frame_rate, video.r_frame_rate) != 0;
}

class Losses {
 public:
  Losses(const FileSource& source, const Container& container, const AVCodecContext& encoder)
      : source_(source),
        context_(source.demuxer().context()),
        container_(container),
        encoder_(encoder),
        stated_(stated_by(encoder)),
        traits_(*container.traits),
        name_("." + container.extension) {}

  std::vector<std::string> list() {
    picture();
    times();
    const bool chapters = context_.nb_chapters > 0 && !container_.drops.chapters;
    if (chapters && !traits_.chapters && !source_.selector())
      lose(std::to_string(context_.nb_chapters) +
               (context_.nb_chapters == 1 ? " chapter" : " chapters"),
           name_);
    if (!container_.drops.tags) tags();
    for (unsigned i = 0; i < context_.nb_streams; ++i) {
      const AVStream& from = *context_.streams[i];
      const bool copied = from.discard != AVDISCARD_ALL && !is_dropped(from, container_.drops);
      if (copied || &from == &source_.demuxer().video()) stream(from);
    }
    return std::move(losses_);
  }

 private:
  void lose(const std::string& what, const std::string& holder) {
    losses_.push_back(what + " (" + holder + " cannot hold " +
                      (what.ends_with("s") ? "them" : "it") + ")");
  }

  bool keeps(Property property) const { return traits_.picture.*property || stated_.*property; }

  void lose_of_picture(bool present, Property property, const char* what) {
    if (present && !keeps(property)) lose(what, std::string(encoder_.codec->name) + " in " + name_);
  }

  void picture() {
    const AVFrame& first = source_.first();
    const bool rgb = (av_pix_fmt_desc_get(encoder_.pix_fmt)->flags & AV_PIX_FMT_FLAG_RGB) != 0;
    lose_of_picture(first.color_primaries != AVCOL_PRI_UNSPECIFIED ||
                        first.color_trc != AVCOL_TRC_UNSPECIFIED ||
                        (!rgb && first.colorspace != AVCOL_SPC_UNSPECIFIED),
                    &PictureProperties::colour, "colour primaries, transfer and matrix");
    const bool full = first.color_range == AVCOL_RANGE_JPEG && !rgb;
    // Players assume the limited range if the output does not state the range.
    lose_of_picture(full && !is_full_range_yuv(encoder_.pix_fmt), &PictureProperties::range,
                    "the full range");
    // Players assume the chroma location "left" if the output does not state the location.
    lose_of_picture(first.chroma_location != AVCHROMA_LOC_UNSPECIFIED &&
                        first.chroma_location != AVCHROMA_LOC_LEFT,
                    &PictureProperties::chroma_location, "the chroma location");
    const AVRational pixel = encoder_.sample_aspect_ratio;
    lose_of_picture(pixel.num > 0 && pixel.num != pixel.den, &PictureProperties::aspect,
                    "the sample aspect ratio");
    lose_of_picture(has_picture_data(source_, AV_PKT_DATA_MASTERING_DISPLAY_METADATA) ||
                        has_picture_data(source_, AV_PKT_DATA_CONTENT_LIGHT_LEVEL),
                    &PictureProperties::static_hdr,
                    "HDR10 mastering display and content light level");
    rotation();
    lose_of_picture(source_.info().interlaced, &PictureProperties::fields, "the order of fields");
    if (has_picture_data(source_, AV_PKT_DATA_DOVI_CONF))
      lose("Dolby Vision metadata", "a denoised video");
    const AVStream& video = source_.demuxer().video();
    if (!traits_.timecode && !source_.selector() &&
        (find_tag(video.metadata, "timecode") || find_tag(context_.metadata, "timecode")))
      lose("the time code", name_);
  }

  void rotation() {
    if (keeps(&PictureProperties::rotation)) return;
    const auto data = picture_data(source_, AV_PKT_DATA_DISPLAYMATRIX);
    if (data.size() < 9 * sizeof(std::int32_t)) return;
    std::array<std::int32_t, 9> m;
    std::copy_n(data.data(), sizeof m, reinterpret_cast<std::uint8_t*>(m.data()));
    if (m == std::array<std::int32_t, 9>{1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30}) return;
    const double angle = std::abs(av_display_rotation_get(m.data()));
    const char* consequence = angle > 45 && angle < 135 ? "the picture will lie on its side"
                              : angle >= 135            ? "the picture will be upside down"
                                             : "the picture will be oriented incorrectly";
    // MP4 and MOV can store the rotation. The warning recommends MP4 if MP4 supports the codec, and
    // MOV otherwise.
    const AVOutputFormat* mp4 = av_guess_format("mp4", nullptr, nullptr);
    const bool suits =
        mp4 && avformat_query_codec(mp4, encoder_.codec_id, FF_COMPLIANCE_NORMAL) == 1;
    losses_.push_back("the rotation (" + std::string(encoder_.codec->name) + " in " + name_ +
                      " cannot hold it: " + consequence + "; use " + (suits ? ".mp4" : ".mov") +
                      ")");
  }

  void times() {
    const AVStream& video = source_.demuxer().video();
    const AVRational tick = video.time_base;
    // At a constant frame rate, players can compute exact timestamps from rounded timestamps, so
    // rounding is a loss only at a variable frame rate.
    if (traits_.milliseconds && has_varying_rate(video) &&
        (tick.num * std::int64_t{1000}) % tick.den != 0)
      losses_.push_back("times of frames to less than 1 ms (" + name_ + " rounds them)");
    if (!traits_.keeps_start) {
      const StartShift shift = start_shift(source_, container_);
      if (shifted_start(source_, shift, tick) != 0) lose("the start time", name_);
      return;
    }
    if (const StartShift shift = start_shift(source_, container_); shift.ticks != 0) {
      if (!container_.keep_times) return;  // the output begins at 0
      char later[32];
      std::snprintf(later, sizeof later, "%.3f", shift.seconds());
      losses_.push_back("the start time (" + name_ +
                        " cannot hold times before 0: all streams begin " + later + " s later)");
      return;
    }
    const bool delayed = encoder_.has_b_frames > 0 || encoder_.max_b_frames > 0;
    const double needed_s = encoder_.framerate.num > 0 ? 2 / av_q2d(encoder_.framerate) : 0;
    if (!traits_.negative_decoding_times && delayed &&
        static_cast<double>(source_.first_time()) * av_q2d(tick) < needed_s)
      losses_.push_back("the start time (in " + name_ +
                        " all streams are delayed by the reordering of B frames)");
  }

  void tags() {
    using Tags = ContainerTraits::Tags;
    const bool keeps_all = traits_.tags == Tags::all || traits_.tags == Tags::listed_and_free;
    const bool keeps_listed = traits_.tags == Tags::listed;
    std::string lost;
    const AVDictionaryEntry* entry = nullptr;
    while ((entry = av_dict_get(context_.metadata, "", entry, AV_DICT_IGNORE_SUFFIX)))
      if (!describes_the_file(entry->key, false) && lower(entry->key) != "timecode" &&
          !(keeps_all || (keeps_listed && is_listed_tag(traits_, entry->key))))
        lost.append(lost.empty() ? "" : ", ").append(entry->key);
    if (!lost.empty())
      losses_.push_back("tags of the file: " + lost + " (" + name_ + " cannot hold them)");
  }

  void stream(const AVStream& from) {
    const std::string of = " of stream " + std::to_string(from.index);
    const AVDictionaryEntry* language = find_tag(from.metadata, "language");
    const bool has_language = language && std::string_view(language->value) != "und";
    const bool video_without_language =
        !traits_.video_language && from.codecpar->codec_type == AVMEDIA_TYPE_VIDEO;
    if (has_language && (video_without_language || !traits_.languages))
      lose("the language" + of, name_);
    if (find_tag(from.metadata, "title") && !traits_.stream_titles) lose("the title" + of, name_);
    const bool cover = (from.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
    // The function ignores AV_DISPOSITION_DEFAULT, because players choose the default stream by
    // position if the container does not store this flag.
    constexpr int ignored_flags = AV_DISPOSITION_DEFAULT | AV_DISPOSITION_ATTACHED_PIC |
                                  AV_DISPOSITION_TIMED_THUMBNAILS | AV_DISPOSITION_METADATA;
    const int lost = from.disposition & ~traits_.dispositions & ~ignored_flags;
    std::string names;
    for (int bit = 1; bit != 0 && bit <= lost; bit <<= 1)
      if (lost & bit)
        if (const char* name = av_disposition_to_string(bit))
          names.append(names.empty() ? "" : ", ").append(name);
    if (!names.empty() && !cover) lose("the disposition " + names + of, name_);
    const AVCodecID codec = from.codecpar->codec_id;
    const bool styled = codec == AV_CODEC_ID_ASS || codec == AV_CODEC_ID_SSA;
    if (styled && handling_of(from, container_) == StreamHandling::converted)
      lose("the positions and styles" + of, name_);
  }

  const FileSource& source_;
  const AVFormatContext& context_;
  const Container& container_;
  const AVCodecContext& encoder_;
  const PictureProperties stated_;
  const ContainerTraits& traits_;
  std::string name_;
  std::vector<std::string> losses_;
};

}  // namespace

std::vector<std::string> losses_of(const FileSource& source, const Container& container,
                                   const AVCodecContext& encoder) {
  return Losses(source, container, encoder).list();
}

std::vector<std::string> lost_layers(const FileSource& source) {
  std::vector<std::string> losses;
  for (const LayerInfo& layer : source.layers())
    if (!layer.is_picture)
      losses.push_back("the layer " + layer.label + " (only OpenEXR of the same size holds it)");
  return losses;
}

std::string loss_of_frame(const AVFrame& properties, const AVCodecContext& encoder) {
  const PictureProperties kept = stated_by(encoder);
  const auto has = [&](AVFrameSideDataType type) {
    return av_frame_get_side_data(&properties, type) != nullptr;
  };
  const std::string holder = std::string(" (") + encoder.codec->name + " cannot hold them)";
  if (has(AV_FRAME_DATA_A53_CC) && !kept.captions) return "A53 captions" + holder;
  if (has(AV_FRAME_DATA_DYNAMIC_HDR_PLUS) && !kept.dynamic_hdr)
    return "the HDR10+ metadata of frames" + holder;
  return {};
}

}  // namespace lull::io
