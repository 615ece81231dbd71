#include "io/ffmpeg/tags.h"

#include <algorithm>
#include <array>

namespace lull::io {

bool describes_the_file(std::string_view key, bool encoded) {
  constexpr std::array<std::string_view, 4> always = {"major_brand", "minor_version",
                                                      "compatible_brands", "encoder"};
  constexpr std::array<std::string_view, 5> of_encoded = {"ENCODER", "DURATION", "BPS",
                                                          "NUMBER_OF_BYTES", "NUMBER_OF_FRAMES"};
  // In Matroska files, "ENCODER" is the program that wrote the file.
  if (std::ranges::find(always, key) != always.end() || (!encoded && key == "ENCODER")) return true;
  return encoded && (std::ranges::find(of_encoded, key) != of_encoded.end() ||
                     key.starts_with("_STATISTICS_"));
}

void copy_metadata(const AVDictionary* from, AVDictionary** to, bool encoded) {
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(from, "", entry, AV_DICT_IGNORE_SUFFIX)))
    if (!describes_the_file(entry->key, encoded)) av_dict_set(to, entry->key, entry->value, 0);
}

}  // namespace lull::io
