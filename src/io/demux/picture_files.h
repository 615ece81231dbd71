#pragma once
// Reads the files of a picture sequence, one packet for each file.

#include <cstdint>
#include <string>
#include <vector>

#include "io/demux/input_container.h"
#include "io/ffmpeg/ffmpeg.h"
#include "io/media.h"
#include "io/pictures/sequence.h"

namespace lull::io {

/// Returns the content of a picture file as a packet with the timestamp 0.
/// @throws NoInput, BadData, IoError
PacketPtr read_whole_picture(const std::string& path);
/// Returns an empty packet with the timestamp 0. lull uses such packets for files that libtiff
/// reads, because libtiff opens the picture file itself.
PacketPtr make_empty_packet();

class PictureFiles {
 public:
  /// Makes an empty list, for inputs that are not picture sequences.
  PictureFiles() = default;
  /// Finds the files that match the pattern `path` and that options.selection selects. If
  /// options.margins is true, the list also contains all other matching files, as temporal context.
  /// @throws NoInput  no file matches
  /// @throws BadData  no file is selected, or there are more files than allowed
  PictureFiles(const std::string& path, const SourceOptions& options);

  const std::vector<SequenceFile>& list() const { return files_; }
  bool empty() const { return files_.empty(); }
  /// Returns the index in list() of the file that read() returns next.
  std::int64_t next() const { return static_cast<std::int64_t>(next_); }
  /// Returns the next file as a packet; null after the last file. The packet has no data if libtiff
  /// reads the file. Its PTS is the index of the file among all selected files, before
  /// SourceOptions::skip_us removes the first ones.
  /// @param first  container of the first file
  /// @throws BadData  the file is damaged, or differs in format from the first file
  PacketPtr read(const AVFormatContext& first, PictureReader reader);
  /// Seeks to the file whose packet has the PTS `time`. Returns false if there is no such file.
  bool seek(std::int64_t time);

 private:
  void select(const SourceOptions& options);
  void skip(const SourceOptions& options);
  void check(const AVInputFormat* format, const std::string& path,
             const AVFormatContext& first) const;

  std::vector<SequenceFile> files_;
  std::size_t next_ = 0;
  std::int64_t skipped_ = 0;  // number of files that SourceOptions::skip_us removed
};

}  // namespace lull::io
