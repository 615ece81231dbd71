#pragma once
// Helpers that attach chapters, captions and HDR metadata to clips and frames.

extern "C" {
#include <libavutil/hdr_dynamic_metadata.h>
}

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/ffmpeg/side_data.h"
#include "io/support/clip.h"

namespace lull::io::test {

inline void add_chapter(AVFormatContext& context) {
  context.chapters = static_cast<AVChapter**>(av_calloc(1, sizeof(AVChapter*)));
  auto* chapter = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
  chapter->id = 1;
  chapter->time_base = {1, 1000};
  chapter->start = 0;
  chapter->end = 200;
  av_dict_set(&chapter->metadata, "title", "Overture", 0);
  context.chapters[0] = chapter;
  context.nb_chapters = 1;
}

inline void add_captions(AVFrame& frame) {
  AVFrameSideData* data = av_frame_new_side_data(&frame, AV_FRAME_DATA_A53_CC, 6);
  std::ranges::copy(std::array<std::uint8_t, 6>{0xFC, 0x94, 0x20, 0xFC, 0, 0}, data->data);
}

inline void add_hdr_plus(AVFrame& frame) {
  AVDynamicHDRPlus* hdr = av_dynamic_hdr_plus_create_side_data(&frame);
  hdr->itu_t_t35_country_code = 0xB5;
  hdr->application_version = 1;
  hdr->num_windows = 1;
  hdr->targeted_system_display_maximum_luminance = {400, 1};
  AVHDRPlusColorTransformParams& w = hdr->params[0];
  w.maxscl[0] = {17830, 100000};
  w.maxscl[1] = {16895, 100000};
  w.maxscl[2] = {14252, 100000};
  w.average_maxrgb = {2036, 100000};
  w.num_distribution_maxrgb_percentiles = 2;
  w.distribution_maxrgb[0] = {1, {0, 100000}};
  w.distribution_maxrgb[1] = {99, {11590, 100000}};
  w.fraction_bright_pixels = {5, 1000};
  w.tone_mapping_flag = 1;
  w.knee_point_x = {0, 4095};
  w.knee_point_y = {128, 4095};
  w.num_bezier_curve_anchors = 3;
  for (int i = 0; i < 3; ++i) w.bezier_curve_anchors[i] = {300 + 200 * i, 1023};
}

// Works like transcode(), but adds side data to each frame. Returns the notes about omitted
// content.
inline std::vector<std::string> convert(const std::string& from, const std::string& to,
                                        const SinkOptions& options,
                                        const std::function<void(AVFrame&)>& add = {}) {
  const auto source = open_source(from);
  const auto sink = open_sink(to, *source, options);
  while (auto frame = source->read()) {
    if (add) {
      auto side_data = std::make_shared<SideData>();
      side_data->properties = make_frame();
      av_frame_copy_props(side_data->properties.get(), frame->side_data->properties.get());
      add(*side_data->properties);
      frame->side_data = side_data;
    }
    sink->write(*std::move(frame));
  }
  sink->finish();
  return sink->losses();
}

}  // namespace lull::io::test
