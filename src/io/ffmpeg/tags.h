#pragma once
// Copies the metadata (tags) of files and streams, except entries about the input file itself, such
// as its brand.

#include <string_view>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns whether an entry, such as "major_brand", describes the input file and not its content.
/// The function ignores the case of the key, because Matroska files contain "MAJOR_BRAND" after a
/// conversion from MP4. `encoded` is true for a stream that lull encodes again.
bool describes_the_file(std::string_view key, bool encoded);

/// Copies the metadata entries that describe the content of the input. `encoded` is true for a
/// stream that lull encodes again.
void copy_metadata(const AVDictionary* from, AVDictionary** to, bool encoded);

/// Returns the entry with the key `key`, ignoring case; null if there is none.
inline const AVDictionaryEntry* find_tag(const AVDictionary* tags, const char* key) {
  return av_dict_get(tags, key, nullptr, 0);
}

}  // namespace lull::io
