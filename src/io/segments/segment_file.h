#pragma once
// A segment file contains all packets of one encoder, unchanged. lull does not use a container for
// segments, because containers round timestamps and drop side data (Matroska, MP4), or drop
// decoding times (NUT).

// A segment file begins with the job's identifier, and ends with the number of frames and the
// SHA-256 of all preceding bytes. Only the same versions of lull and FFmpeg can read a segment file
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

/// Properties of a finished segment.
struct SegmentRecord {
  std::int64_t frames = 0, bytes = 0;
  std::string sha256;  // SHA-256 of the file without its last bytes, which contain the digest
  bool operator==(const SegmentRecord&) const = default;
};

/// Writes a segment file, which finish() renames to its final name.
class SegmentWriter {
 public:
  /// @param path  name of the file; the writer replaces an existing file or link
  /// @param job   identifier of the job (a SHA-256)
  /// @throws CannotCreate
  SegmentWriter(const std::string& path, const std::string& job, const Access& access = {});
  /// Appends a packet to the file.
  /// @throws IoError
  void write(const AVPacket& packet);
  /// Flushes the file to the disk and renames it to its final name.
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
  /// Opens the segment file `path`. next() verifies size and digest against `record`.
  /// @throws IoError  lull cannot open the file
  SegmentReader(const std::string& path, const SegmentRecord& record);
  /// Returns the next packet; null after the last packet.
  /// @throws IoError  the file differs from its record
  PacketPtr next();

 private:
  void get(void* data, std::int64_t bytes);
  void check_end();
  bool is_at_end();

  std::string path_;
  SegmentRecord record_;
  RegularFile file_;
  std::int64_t left_;  // number of bytes that have not been read yet
  Sha256 digest_;
};

/// Reads a complete segment file, verifies its digest, and returns its record; nullopt if the file
/// is missing, damaged, or from a job other than `job`. An empty `job` means any job.
std::optional<SegmentRecord> read_record(const std::string& path, const std::string& job = {});
/// Returns the record of a segment file from its first and last bytes, without verifying the
/// digest. SegmentReader verifies the digest later.
std::optional<SegmentRecord> read_unverified_record(const std::string& path,
                                                    const std::string& job);

/// Returns whether the file exists and matches the record.
bool is_whole(const std::string& path, const SegmentRecord& record);

/// Returns a path such as "FOLDER/000007.lullseg".
std::string segment_path(const std::string& folder, std::int64_t segment);
/// Returns whether `name` has the form of a segment's file name.
bool is_segment_name(const std::string& name);

}  // namespace lull::io
