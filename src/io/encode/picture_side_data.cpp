#include "io/encode/picture_side_data.h"

#include <algorithm>
#include <array>

namespace lull::io {
namespace {

struct Kind {
  AVPacketSideDataType of_stream;
  AVFrameSideDataType of_frame;
};
constexpr std::array<Kind, 6> kinds{
    {{AV_PKT_DATA_DISPLAYMATRIX, AV_FRAME_DATA_DISPLAYMATRIX},
     {AV_PKT_DATA_STEREO3D, AV_FRAME_DATA_STEREO3D},
     {AV_PKT_DATA_SPHERICAL, AV_FRAME_DATA_SPHERICAL},
     {AV_PKT_DATA_MASTERING_DISPLAY_METADATA, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA},
     {AV_PKT_DATA_CONTENT_LIGHT_LEVEL, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL},
     {AV_PKT_DATA_ICC_PROFILE, AV_FRAME_DATA_ICC_PROFILE}}};

}  // namespace

std::span<const std::uint8_t> picture_data(const FileSource& source, AVPacketSideDataType type) {
  if (const auto data = stream_data(source.demuxer().video(), type); !data.empty()) return data;
  const auto* kind = std::ranges::find(kinds, type, &Kind::of_stream);
  if (kind == kinds.end()) return {};
  const AVFrameSideData* data = av_frame_get_side_data(&source.first(), kind->of_frame);
  return data ? std::span<const std::uint8_t>(data->data, data->size)
              : std::span<const std::uint8_t>();
}

void copy_picture_data(const FileSource& source, AVStream& to) {
  for (const Kind& kind : kinds)
    if (const auto data = picture_data(source, kind.of_stream); !data.empty())
      add_stream_data(to, kind.of_stream, data);
}

void copy_picture_data(const FileSource& source, AVFrame& to) {
  for (const Kind& kind : kinds) {
    const auto data = picture_data(source, kind.of_stream);
    if (data.empty() || av_frame_get_side_data(&to, kind.of_frame)) continue;
    std::ranges::copy(data,
                      non_null(av_frame_new_side_data(&to, kind.of_frame, data.size()))->data);
  }
}

}  // namespace lull::io
