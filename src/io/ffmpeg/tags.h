#pragma once
// Copies metadata (tags) of files and streams. Some entries describe the content of a file; others
// describe only the file itself and are not copied.

#include <string_view>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Returns whether an entry describes only the input file, and not its content. The muxer writes
/// its own entries of this kind. `encoded` states that the entry belongs to a stream that is
/// encoded again.
bool describes_the_file(std::string_view key, bool encoded);

/// Copies all metadata entries that describe the content.
void copy_metadata(const AVDictionary* from, AVDictionary** to, bool encoded);

/// Returns the entry with this name, ignoring case; null if there is none.
inline const AVDictionaryEntry* find_tag(const AVDictionary* tags, const char* key) {
  return av_dict_get(tags, key, nullptr, 0);
}

}  // namespace lull::io
