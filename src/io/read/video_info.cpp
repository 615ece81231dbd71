#include "io/read/video_info.h"

#include <algorithm>
#include <cmath>

#include "io/ffmpeg/pixel_formats.h"

namespace lull::io {
namespace {

/// Returns whether the codec marks each frame as interlaced or progressive. For other codecs, only
/// the container can state interlacing.
bool states_interlacing(AVCodecID id) {
  return id == AV_CODEC_ID_H264 || id == AV_CODEC_ID_HEVC || id == AV_CODEC_ID_MPEG2VIDEO ||
         id == AV_CODEC_ID_MPEG4 || id == AV_CODEC_ID_VC1 || id == AV_CODEC_ID_PRORES;
}

void estimate_files(const std::vector<SequenceFile>& files, VideoInfo& info) {
  std::vector<SequenceFile> selected;
  std::ranges::copy_if(files, std::back_inserter(selected), &SequenceFile::selected);
  info.frames_estimate = static_cast<std::int64_t>(selected.size());
  info.duration_s = static_cast<double>(selected.size()) / av_q2d(to_av(info.frame_rate));
  if (const std::string missing = missing_numbers(selected); !missing.empty())
    info.notes.push_back("the sequence has no number " + missing + "; its neighbours are joined");
}

void estimate_part(const Selection& selection, VideoInfo& info) {
  if (info.frames_estimate <= 0) return;
  std::int64_t frames = 0;
  for (const FrameRange& range : selection.ranges)
    frames +=
        std::max<std::int64_t>(std::min(range.last, info.frames_estimate - 1) - range.first + 1, 0);
  if (selection.ranges.empty()) {
    const double start = static_cast<double>(selection.start_us) * 1e-6;
    double length = info.duration_s - start;
    if (selection.duration_us)
      length = std::min(length, static_cast<double>(*selection.duration_us) * 1e-6);
    frames = std::llround(std::max(length, 0.0) * av_q2d(to_av(info.frame_rate)));
  }
  info.frames_estimate = frames;
}

/// Returns the distance of the first chroma sample from the edge of the picture along an axis, in
/// chroma samples. A chroma sample covers 2^shift luma samples along this axis. The chroma sample
/// lies at the centre of these luma samples (`centred`), at the last one (`last`), or otherwise at
/// the first one.
double chroma_position(int shift, bool centred, bool last = false) {
  if (shift == 0 || centred) return 0.5;
  const double half = 0.5 / (1 << shift);
  return last ? 1 - half : half;
}

void describe_chroma(AVPixelFormat format, AVChromaLocation location, VideoInfo& info) {
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(format);
  const bool middle = location == AVCHROMA_LOC_CENTER || location == AVCHROMA_LOC_TOP ||
                      location == AVCHROMA_LOC_BOTTOM;
  const bool top = location == AVCHROMA_LOC_TOPLEFT || location == AVCHROMA_LOC_TOP;
  const bool bottom = location == AVCHROMA_LOC_BOTTOMLEFT || location == AVCHROMA_LOC_BOTTOM;
  info.chroma_x = chroma_position(d.log2_chroma_w, middle);
  info.chroma_y = chroma_position(d.log2_chroma_h, !top && !bottom, bottom);
}

}  // namespace

bool is_marked_interlaced(const AVFrame& first, const AVStream& stream) {
  if (is_interlaced(first)) return true;
  const AVFieldOrder order = stream.codecpar->field_order;
  return order != AV_FIELD_UNKNOWN && order != AV_FIELD_PROGRESSIVE &&
         !states_interlacing(stream.codecpar->codec_id);
}

VideoInfo describe_input(const Demuxer& demuxer, const AVFrame& first, AVPixelFormat format) {
  AVStream& stream = demuxer.video();
  VideoInfo info;
  info.frame_rate = to_rational(av_guess_frame_rate(&demuxer.context(), &stream, nullptr));
  info.codec = avcodec_get_name(stream.codecpar->codec_id);
  info.pixel_format = name_of(format);
  info.container = demuxer.context().iformat->name;
  info.time_base = to_rational(stream.time_base);
  info.interlaced = is_marked_interlaced(first, stream);
  describe_chroma(format, first.chroma_location, info);
  if (av_frame_get_side_data(&first, AV_FRAME_DATA_FILM_GRAIN_PARAMS))
    info.notes.push_back("'" + demuxer.path() +
                         "' describes film grain for players to add; it is left out");
  return info;
}

void estimate_length(const Demuxer& demuxer, const Selection& selection, VideoInfo& info) {
  if (!demuxer.sequence().empty()) return estimate_files(demuxer.sequence(), info);
  if (info.still) {
    info.frames_estimate = 1;
    return;
  }
  const AVStream& stream = demuxer.video();
  if (stream.duration > 0)
    info.duration_s = static_cast<double>(stream.duration) * av_q2d(stream.time_base);
  else if (demuxer.context().duration > 0)
    info.duration_s = static_cast<double>(demuxer.context().duration) / AV_TIME_BASE;
  if (stream.nb_frames > 0)
    info.frames_estimate = stream.nb_frames;
  else if (info.frame_rate.num > 0)
    info.frames_estimate = std::llround(info.duration_s * av_q2d(to_av(info.frame_rate)));
  if (!selection.all()) estimate_part(selection, info);
}

}  // namespace lull::io
