#include "io/ffmpeg/side_data.h"

namespace lull {

std::shared_ptr<SideData> copy_of(const SideData* side_data) {
  auto copy = std::make_shared<SideData>();
  if (!side_data) return copy;
  if (side_data->properties) {
    copy->properties = io::make_frame();
    io::check<InternalError>(
        av_frame_copy_props(copy->properties.get(), side_data->properties.get()),
        "cannot copy side data");
  }
  copy->number = side_data->number;
  copy->tiff = side_data->tiff;
  copy->tiff_page = side_data->tiff_page;
  copy->match = side_data->match;
  copy->alpha = side_data->alpha;
  copy->metadata = side_data->metadata;
  copy->stored = side_data->stored;
  copy->layers = side_data->layers;
  return copy;
}

}  // namespace lull
