#pragma once
// The file of a segment contains all packets of one encoder, unchanged. Containers change some
// packets: Matroska and MP4 round or rewrite time stamps and drop side data, and NUT stores no
// decoding times.

// A segment file begins with the identifier of its job. It ends with the number of its frames and
// the SHA-256 of all preceding bytes. A segment is finished as soon as its file has the final name.
// Only the same versions of lull and FFmpeg can read a segment file (segment_job.h).

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

/// Writes a segment file. finish() gives the file its final name.
class SegmentWriter {
 public:
  /// @param path  name of the file; the writer replaces an existing file or link
  /// @param job   identifier of the job (a SHA-256)
  /// @throws CannotCreate
  SegmentWriter(const std::string& path, const std::string& job, const Access& access = {});
  /// Appends a packet to the file.
  /// @throws IoError
  void write(const AVPacket& packet);
  /// Writes the remaining bytes to the disk and gives the file its final name.
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
  /// Opens the segment file `path`. next() compares the size and the digest of the file with
  /// `record`.
  /// @throws IoError  the file cannot be opened
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

/// Reads a segment file, compares its digest with all of its bytes, and returns its record. Returns
/// nullopt if the file does not exist, is damaged, or belongs to a job other than `job`. If `job`
/// is empty, the function accepts the segments of all jobs.
std::optional<SegmentRecord> read_record(const std::string& path, const std::string& job = {});
/// Returns the record of a segment file like read_record(), but reads only the first and the last
/// bytes of the file. SegmentReader compares the digest later, while it reads the packets.
std::optional<SegmentRecord> read_unverified_record(const std::string& path,
                                                    const std::string& job);

/// Returns whether the file exists and matches the record.
bool is_whole(const std::string& path, const SegmentRecord& record);

/// Returns a path such as "FOLDER/000007.lullseg".
std::string segment_path(const std::string& folder, std::int64_t segment);
/// Returns whether `name` has the form of a segment's file name.
bool is_segment_name(const std::string& name);

}  // namespace lull::io
