#include "c/src/formats.h"

#include <string>

#include "c/src/support.h"
#include "core/validate_format.h"

namespace lull::c {
namespace {

[[noreturn]] void refuse_member(const char* name, std::int64_t value, const char* values) {
  throw InvalidArgument("format->" + std::string(name) + " = " + std::to_string(value) +
                        " (must be " + values + "); choose one of these");
}

constexpr std::int64_t greatest_pixels = io::Limits{}.pixels;  // as in the command

int bits_of(const lull_format& format) {
  const int most = format.sample == LULL_U8 ? 8 : format.sample == LULL_U16 ? 16 : 32;
  const int least = format.sample == LULL_U16 ? 9 : most;
  if (format.bits == 0) return most;
  if (format.bits < least || format.bits > most)
    refuse_member("bits", format.bits,
                  "0, or 8 for LULL_U8, 9 to 16 for LULL_U16, 32 for LULL_F32");
  return format.bits;
}

}  // namespace

io::VideoInfo InputFormat::info() const {
  io::VideoInfo info;
  info.still = is_still;
  info.stack = is_volume;
  info.slices = is_volume ? frames : 0;
  info.frames_estimate = frames;
  return info;
}

InputFormat read_format(const lull_format* given) {
  const lull_format format = read_struct(given, "format");
  if (format.layout < LULL_GREY || format.layout > LULL_RGB)
    refuse_member("layout", format.layout, "LULL_GREY, LULL_YUV or LULL_RGB");
  if (format.sample < LULL_U8 || format.sample > LULL_F32)
    refuse_member("sample", format.sample, "LULL_U8, LULL_U16 or LULL_F32");
  if (format.content < LULL_CLIP || format.content > LULL_VOLUME)
    refuse_member("content", format.content, "LULL_CLIP, LULL_PICTURES or LULL_VOLUME");
  if (format.frames < 0) refuse_member("frames", format.frames, "from 0");
  InputFormat input{.frame = {.width = format.width,
                              .height = format.height,
                              .layout = static_cast<Layout>(format.layout),
                              .sample = static_cast<SampleType>(format.sample),
                              .bits = bits_of(format),
                              .chroma_shift_x = format.shift_x,
                              .chroma_shift_y = format.shift_y,
                              .white = format.white == 0 ? 1 : format.white},
                    .is_volume = format.content == LULL_VOLUME,
                    .is_still = format.content == LULL_PICTURES,
                    .frames = format.frames};
  validate(input.frame);
  const std::int64_t pixels = std::int64_t{format.width} * format.height;
  if (pixels > greatest_pixels)
    throw InvalidArgument("frames of " + std::to_string(format.width) + "x" +
                          std::to_string(format.height) +
                          " samples (at most 2^28 are possible); divide them into parts");
  return input;
}

lull_format format_of(const FrameFormat& frame, const InputFormat& input) {
  return {.size = sizeof(lull_format),
          .width = frame.width,
          .height = frame.height,
          .layout = static_cast<std::int32_t>(frame.layout),
          .sample = static_cast<std::int32_t>(frame.sample),
          .bits = frame.bits,
          .shift_x = frame.chroma_shift_x,
          .shift_y = frame.chroma_shift_y,
          .white = frame.white,
          .content = input.is_volume  ? LULL_VOLUME
                     : input.is_still ? LULL_PICTURES
                                      : LULL_CLIP,
          .frames = input.frames};
}

}  // namespace lull::c
