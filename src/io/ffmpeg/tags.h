#pragma once
// Metadata of files and streams: what is content and what describes the old file.

#include <string_view>

#include "io/ffmpeg/ffmpeg.h"

namespace lull::io {

/// Entries that describe the old file rather than its content; the muxer writes its own.
/// `encoded`: of a stream that is encoded anew.
bool describes_the_file(std::string_view key, bool encoded);

/// All but those.
void copy_metadata(const AVDictionary* from, AVDictionary** to, bool encoded);

/// The entry of that name in any case, null if there is none.
inline const AVDictionaryEntry* find_tag(const AVDictionary* tags, const char* key) {
  return av_dict_get(tags, key, nullptr, 0);
}

}  // namespace lull::io
