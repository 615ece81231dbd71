#include "io/write/chapters.h"

#include <algorithm>

#include "io/ffmpeg/tags.h"

namespace lull::io {

void copy_chapters(const AVFormatContext& from, const StartShift& shift, AVFormatContext& to) {
  if (from.nb_chapters == 0) return;
  to.chapters =
      static_cast<AVChapter**>(non_null(av_calloc(from.nb_chapters, sizeof *to.chapters)));
  for (unsigned i = 0; i < from.nb_chapters; ++i) {
    const AVChapter& source = *from.chapters[i];
    const std::int64_t ticks = shift.in(source.time_base);
    if (ticks < 0 && source.end + ticks < 0) continue;
    auto* chapter = static_cast<AVChapter*>(non_null(av_mallocz(sizeof(AVChapter))));
    to.chapters[to.nb_chapters++] = chapter;  // the context frees it
    chapter->id = source.id;
    chapter->time_base = source.time_base;
    chapter->start = source.start + ticks;
    if (ticks < 0) chapter->start = std::max<std::int64_t>(chapter->start, 0);
    chapter->end = source.end + ticks;
    copy_metadata(source.metadata, &chapter->metadata, false);
  }
}

}  // namespace lull::io
