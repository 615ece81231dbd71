#include "io/ffmpeg/tags.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace lull::io {

bool describes_the_file(std::string_view key, bool encoded) {
  constexpr std::array<std::string_view, 4> always = {"major_brand", "minor_version",
                                                      "compatible_brands", "encoder"};
  constexpr std::array<std::string_view, 4> of_encoded = {"duration", "bps", "number_of_bytes",
                                                          "number_of_frames"};
  // In Matroska files, FFmpeg appends the language of a tag to its key, for example "BPS-eng".
  constexpr std::size_t suffix = 4;
  if (key.size() > suffix && key[key.size() - suffix] == '-') key.remove_suffix(suffix);
  std::string name(key);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (std::ranges::find(always, name) != always.end()) return true;
  return encoded && (std::ranges::find(of_encoded, name) != of_encoded.end() ||
                     name.starts_with("_statistics_"));
}

void copy_metadata(const AVDictionary* from, AVDictionary** to, bool encoded) {
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(from, "", entry, AV_DICT_IGNORE_SUFFIX)))
    if (!describes_the_file(entry->key, encoded)) av_dict_set(to, entry->key, entry->value, 0);
}

}  // namespace lull::io
