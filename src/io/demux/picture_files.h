#pragma once
// The files of a sequence of pictures, one packet each.

#include <cstdint>
#include <string>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"
#include "io/media.h"
#include "io/pictures/sequence.h"

namespace lull::io {

/// A file of one picture as a packet at time 0. @throws NoInput, BadData, IoError
PacketPtr read_whole_picture(const std::string& path);

class PictureFiles {
 public:
  /// None: `path` is no pattern.
  PictureFiles() = default;
  /// Those that options.selection takes; with options.margins the others remain, too, and are
  /// marked. @throws NoInput; BadData  none is selected, or more than the limit
  PictureFiles(const std::string& path, const SourceOptions& options);

  const std::vector<SequenceFile>& list() const { return files_; }
  bool empty() const { return files_.empty(); }
  /// The next one, whose time is its index among all of them; null behind the last. `first` is the
  /// container that the first picture was opened with. @throws BadData  damaged, or of another kind
  PacketPtr read(const AVFormatContext& first);
  /// That with this time is the next one. False: there is none.
  bool seek(std::int64_t time);

 private:
  void select(const SourceOptions& options);
  void skip(const SourceOptions& options);
  void check(const AVPacket& packet, const std::string& path, const AVFormatContext& first) const;

  std::vector<SequenceFile> files_;
  std::size_t next_ = 0;
  std::int64_t skipped_ = 0;  // files before the first
};

}  // namespace lull::io
