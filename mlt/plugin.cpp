// The filter lulldenoise for MLT: registers the filter, reads its properties and filters the images
// of frames.

#include <framework/mlt.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "mlt/picture_filter.h"

namespace {

using lull::ClipSettings;
using lull::mlt::PictureFilter;

struct TextSetting {
  const char* name;
  std::string ClipSettings::*member;
};
constexpr TextSetting text_settings[] = {
    {"sigma", &ClipSettings::sigma},   {"strength", &ClipSettings::strength},
    {"preset", &ClipSettings::preset}, {"profile", &ClipSettings::profile},
    {"method", &ClipSettings::method}, {"device", &ClipSettings::device}};

ClipSettings settings_of(mlt_properties properties) {
  ClipSettings settings;
  for (const auto& [name, member] : text_settings)
    if (const char* text = mlt_properties_get(properties, name)) settings.*member = text;
  settings.threads = mlt_properties_get_int(properties, "threads");
  return settings;
}

/// Gets the image of a frame and denoises it. MLT calls this when a consumer needs the image.
int get_image(mlt_frame frame, uint8_t** image, mlt_image_format* format, int* width, int* height,
              int) {
  auto filter = static_cast<mlt_filter>(mlt_frame_pop_service(frame));
  *format = lull::mlt::filtered_format(*format);
  const mlt_image_format wanted = *format;
  const int error = mlt_frame_get_image(frame, image, format, width, height, 1);
  if (error != 0 || *format != wanted) return error;
  mlt_service service = MLT_FILTER_SERVICE(filter);
  mlt_service_lock(service);  // MLT may render several frames at the same time
  try {
    auto* pictures = static_cast<PictureFilter*>(filter->child);
    pictures->filter(settings_of(MLT_FILTER_PROPERTIES(filter)), *format, *width, *height, *image);
  } catch (const std::exception& problem) {
    // The image does not change. Video editors show this message in their log.
    mlt_log_error(service, "lulldenoise: %s\n", problem.what());
  }
  mlt_service_unlock(service);
  return 0;
}

mlt_frame process(mlt_filter filter, mlt_frame frame) {
  mlt_frame_push_service(frame, filter);
  mlt_frame_push_get_image(frame, get_image);
  return frame;
}

void close_filter(mlt_filter filter) {
  delete static_cast<PictureFilter*>(filter->child);
  filter->child = nullptr;
  filter->close = nullptr;
  filter->parent.close = nullptr;
  mlt_service_close(&filter->parent);
}

mlt_filter create_filter(mlt_profile, mlt_service_type, const char*, char* argument) {
  mlt_filter filter = mlt_filter_new();
  if (!filter) return nullptr;
  filter->child = new PictureFilter;
  filter->process = process;
  filter->close = close_filter;
  mlt_properties_set(MLT_FILTER_PROPERTIES(filter), "sigma", argument ? argument : "auto");
  return filter;
}

mlt_properties read_metadata(mlt_service_type, const char*, void* file) {
  const std::string path =
      std::string(mlt_environment("MLT_DATA")) + "/lull/" + static_cast<const char*>(file);
  return mlt_properties_parse_yaml(path.c_str());
}

}  // namespace

extern "C" __attribute__((visibility("default"))) MLT_REPOSITORY {
  static char file[] = "filter_lulldenoise.yml";
  MLT_REGISTER(mlt_service_filter_type, "lulldenoise", create_filter);
  MLT_REGISTER_METADATA(mlt_service_filter_type, "lulldenoise", read_metadata, file);
}
