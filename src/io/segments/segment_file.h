#pragma once
// One segment of a job on the disk: the packets of an encoder from its first to its last.
//
// A format of lull's own, because no container holds every packet as it is: Matroska and MP4 round
// or rewrite time stamps and drop side data, NUT knows no decoding times of its own. Here a packet
// is its fields and its bytes, and the file as a whole has a checksum in the job's manifest. It is
// read by the version of lull and FFmpeg that wrote it, and by no other (segment_job.h).

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"
#include "io/files/output_file.h"
#include "io/files/sha256.h"

namespace lull::io {

/// What a manifest says of a segment.
struct SegmentRecord {
  std::int64_t frames = 0, bytes = 0;
  std::string sha256;  // of the file
};

/// Nothing has the name before finish().
class SegmentWriter {
 public:
  /// Replaces what has the name. @throws CannotCreate
  explicit SegmentWriter(const std::string& path);
  /// @throws IoError
  void write(const AVPacket& packet);
  /// All is on the disk and has its name; the record lacks the number of frames. @throws IoError,
  /// CannotCreate
  SegmentRecord finish();

 private:
  void put(const void* data, std::size_t bytes);

  OutputFile file_;
  Sha256 digest_;
  std::int64_t bytes_ = 0;
};

class SegmentReader {
 public:
  /// @throws IoError  it cannot be opened
  SegmentReader(const std::string& path, const SegmentRecord& record);
  /// The next packet, null at the end. @throws IoError  the file is not what was recorded
  PacketPtr next();

 private:
  void get(void* data, std::int64_t bytes);
  [[noreturn]] void fail() const;

  std::string path_;
  SegmentRecord record_;
  std::ifstream file_;
  std::int64_t left_;  // bytes
  Sha256 digest_;
};

/// Whether the file is there and as it was recorded.
bool is_whole(const std::string& path, const SegmentRecord& record);

}  // namespace lull::io
