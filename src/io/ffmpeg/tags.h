#pragma once
// Copies metadata (tags) of files and streams. The functions omit entries that describe only the
// input file, such as its brand.

#include <string_view>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns whether an entry, such as "major_brand", describes only the input file and not its
/// content. The muxer writes its own entries of this kind. `encoded` is true if the entry belongs
/// to a stream that lull encodes again.
bool describes_the_file(std::string_view key, bool encoded);

/// Copies all metadata entries that describe the content of the input. `encoded` is true if the
/// entries belong to a stream that lull encodes again.
void copy_metadata(const AVDictionary* from, AVDictionary** to, bool encoded);

/// Returns the entry with the key `key`; null if there is none. The case of letters does not
/// matter.
inline const AVDictionaryEntry* find_tag(const AVDictionary* tags, const char* key) {
  return av_dict_get(tags, key, nullptr, 0);
}

}  // namespace lull::io
