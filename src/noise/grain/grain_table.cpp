#include "noise/grain/grain_table.h"

namespace lull {
namespace {

constexpr std::array<const char*, 3> names{"Y", "Cb", "Cr"};

void add(std::string& text, std::int64_t number) {
  text += ' ';
  text += std::to_string(number);
}

void add_params(std::string& text, const GrainParams& grain) {
  text += "\tp";
  for (const int number :
       {grain_lag, grain.ar_coeff_shift, grain.grain_scale_shift, grain.scaling_shift}) {
    add(text, number);
  }
  add(text, 0);  // chroma has its own scaling functions
  add(text, 1);  // blocks of grain overlap
  // The strength of the grain of Cb and Cr depends only on luma. The codes for this rule are 128
  // (chroma weight 0), 192 (luma weight 1) and 256 (offset 0).
  for (int plane = 1; plane < 3; ++plane)
    for (const int number : {128, 192, 256}) add(text, number);
  text += '\n';
  for (int plane = 0; plane < 3; ++plane) {
    text.append("\ts").append(names[plane]);
    add(text, static_cast<std::int64_t>(grain.points[plane].size()));
    for (const ScalingPoint& point : grain.points[plane]) {
      add(text, point.at);
      add(text, point.scale);
    }
    text += '\n';
  }
  for (int plane = 0; plane < 3; ++plane) {
    text.append("\tc").append(names[plane]);
    for (const int coefficient : grain.ar_coeffs[plane]) add(text, coefficient);
    if (plane > 0) add(text, grain.luma_coeff[plane]);
    text += '\n';
  }
}

}  // namespace

std::string text_of(const GrainTable& table) {
  std::string text = "filmgrn1\n";
  int seed = 7391;  // seed of the first frame; encoders derive later seeds from it
  for (const GrainEntry& entry : table) {
    text += 'E';
    add(text, entry.start);
    add(text, entry.end);
    add(text, entry.grain ? 1 : 0);
    add(text, seed);
    add(text, entry.grain ? 1 : 0);
    text += '\n';
    if (entry.grain) add_params(text, *entry.grain);
    seed = (seed + 3381) % 32768;
  }
  return text;
}

}  // namespace lull
