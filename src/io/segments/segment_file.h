#pragma once
// One segment of a job on the disk: the packets of an encoder from its first to its last.
//
// A format of lull's own, because no container holds every packet as it is: Matroska and MP4 round
// or rewrite time stamps and drop side data, NUT knows no decoding times of its own. Here a packet
// is its fields and its bytes. The file is its own record: it begins with the job that it belongs
// to and ends with the number of its frames and the SHA-256 of all before that, so that one rename
// makes a segment done. It is read by the version of lull and FFmpeg that wrote it, and by no other
// (segment_job.h).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"
#include "io/files/output_file.h"
#include "io/files/regular_file.h"
#include "io/files/sha256.h"

namespace lull::io {

/// What is known of a segment that is done.
struct SegmentRecord {
  std::int64_t frames = 0, bytes = 0;
  std::string sha256;  // of the file but for its last bytes, which are this
  bool operator==(const SegmentRecord&) const = default;
};

/// Nothing has the name before finish().
class SegmentWriter {
 public:
  /// Replaces a file or a link of this name. `job`: what all segments of a job have in common, a
  /// SHA-256. @throws CannotCreate
  SegmentWriter(const std::string& path, const std::string& job, const Access& access = {});
  /// @throws IoError
  void write(const AVPacket& packet);
  /// All is on the disk and has its name. @throws IoError, CannotCreate
  SegmentRecord finish(std::int64_t frames);

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
  void check_end();
  bool is_at_end();

  std::string path_;
  SegmentRecord record_;
  RegularFile file_;
  std::int64_t left_;  // bytes
  Sha256 digest_;
};

/// The record that the file holds of itself; nullopt: it is not there, damaged, or of another job.
/// An empty `job` is any. The digest is compared with all bytes of the file.
std::optional<SegmentRecord> read_record(const std::string& path, const std::string& job = {});
/// As read_record(), from the first and the last bytes of the file alone: only a SegmentReader
/// compares the digest.
std::optional<SegmentRecord> read_claimed_record(const std::string& path, const std::string& job);

/// Whether the file is there and as it was recorded.
bool is_whole(const std::string& path, const SegmentRecord& record);

/// "FOLDER/000007.lullseg"
std::string segment_path(const std::string& folder, std::int64_t segment);
/// Whether a name is of that kind.
bool is_segment_name(const std::string& name);

}  // namespace lull::io
