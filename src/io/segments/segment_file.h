#pragma once
// A segment of a job on the disk: all packets of one encoder.
//
// lull uses its own format because no container stores every packet unchanged: Matroska and MP4
// round or rewrite time stamps and drop side data, and NUT has no decoding times. Here a packet is
// stored as its fields and its bytes. The file begins with the identifier of its job. It ends with
// the number of its frames and the SHA-256 of all bytes before, so that one rename makes a segment
// finished. Only the versions of lull and FFmpeg that wrote it can read it (segment_job.h).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/ffmpeg/ffmpeg.h"
#include "io/files/output_file.h"
#include "io/files/regular_file.h"
#include "io/files/sha256.h"

namespace lull::io {

/// Properties of a finished segment.
struct SegmentRecord {
  std::int64_t frames = 0, bytes = 0;
  std::string sha256;  // checksum of the file without its last bytes, which contain the checksum
  bool operator==(const SegmentRecord&) const = default;
};

/// Writes a segment. The file gets its name in finish().
class SegmentWriter {
 public:
  /// Replaces an existing file or link. `job` is the identifier of the job, a SHA-256.
  /// @throws CannotCreate
  SegmentWriter(const std::string& path, const std::string& job, const Access& access = {});
  /// @throws IoError
  void write(const AVPacket& packet);
  /// Completes the file on the disk and gives it its name.
  /// @throws IoError, CannotCreate
  SegmentRecord finish(std::int64_t frames);

 private:
  void put(const void* data, std::size_t bytes);

  OutputFile file_;
  Sha256 digest_;
  std::int64_t bytes_ = 0;
};

class SegmentReader {
 public:
  /// @throws IoError  the file cannot be opened
  SegmentReader(const std::string& path, const SegmentRecord& record);
  /// Returns the next packet, null at the end.
  /// @throws IoError  the file differs from its record
  PacketPtr next();

 private:
  void get(void* data, std::int64_t bytes);
  void check_end();
  bool is_at_end();

  std::string path_;
  SegmentRecord record_;
  RegularFile file_;
  std::int64_t left_;  // bytes that are not read yet
  Sha256 digest_;
};

/// Returns the record in a segment's file; nullopt if the file does not exist, is damaged, or
/// belongs to another job. An empty `job` accepts all jobs. The digest is compared with all bytes
/// of the file.
std::optional<SegmentRecord> read_record(const std::string& path, const std::string& job = {});
/// Like read_record(), but reads only the first and the last bytes of the file. Only a
/// SegmentReader compares the digest.
std::optional<SegmentRecord> read_unverified_record(const std::string& path,
                                                    const std::string& job);

/// Returns whether the file exists and matches the record.
bool is_whole(const std::string& path, const SegmentRecord& record);

/// Returns a path such as "FOLDER/000007.lullseg".
std::string segment_path(const std::string& folder, std::int64_t segment);
/// Returns whether a file name is that of a segment.
bool is_segment_name(const std::string& name);

}  // namespace lull::io
