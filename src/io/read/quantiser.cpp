#include "io/quantiser.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>

#include "io/ffmpeg/side_data.h"
#include "io/read/quantiser_tag.h"

namespace lull::io {
namespace {

constexpr const char* steps_tag = "lull.quantiser_steps";

}  // namespace

void set_quantiser_steps(AVFrame& picture, double luma, double chroma) {
  const std::string text = std::to_string(luma) + " " + std::to_string(chroma);
  if (av_dict_set(&picture.metadata, steps_tag, text.c_str(), 0) < 0) throw std::bad_alloc();
}

std::array<float, 3> quantiser_steps(const Frame& frame) {
  std::array<float, 3> steps{};
  if (!frame.side_data || !frame.side_data->properties || frame.format.layout == Layout::rgb)
    return steps;
  const AVDictionaryEntry* const entry =
      av_dict_get(frame.side_data->properties->metadata, steps_tag, nullptr, 0);
  if (!entry) return steps;
  char* next = nullptr;
  steps[0] = std::strtof(entry->value, &next);
  if (frame.format.layout == Layout::yuv) steps[1] = steps[2] = std::strtof(next, nullptr);
  for (float& step : steps) step = step > 1 ? step : 0;
  return steps;
}

}  // namespace lull::io
