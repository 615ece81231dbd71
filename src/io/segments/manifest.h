#pragma once
// The manifest of a job in segments: a text file that lists the finished segments, and the
// properties on which the output depends (facts, JobFact). The first line is "lull job 1". The last
// line contains "sha256" and the SHA-256 of all preceding lines.

// Lines of a manifest, by their first word:
// - "fact": name and value of a fact; '%', spaces and unprintable characters become %XX
// - "threads": number of threads of each encoder
// - "segment": number, number of frames, size in bytes and SHA-256 of a segment
// - "result": identity of the finished output (inode, bytes, time of the last change)

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/media.h"
#include "io/segments/segment_file.h"

namespace lull::io {

struct Manifest {
  /// Properties by which the file system identifies a file, independent of its name.
  struct Identity {
    std::uint64_t inode = 0, bytes = 0, changed_ns = 0;
    bool operator==(const Identity&) const = default;
  };

  std::vector<JobFact> facts;
  int threads = 0;  // number of threads of each encoder; the output of some encoders depends on it
  std::map<std::int64_t, SegmentRecord> segments;
  std::optional<Identity> result;
};

/// Returns the identity of a file; nullopt if the file does not exist.
std::optional<Manifest::Identity> identity_of(const std::string& file);

/// Returns the identifier of a job, which is a SHA-256. Every segment file of the job contains the
/// identifier.
std::string job_id(const std::vector<JobFact>& facts, int threads);
/// Returns a description of the first difference between the properties of two jobs; empty if all
/// properties are equal.
std::string difference(const std::vector<JobFact>& before, const std::vector<JobFact>& now);

std::string to_text(const Manifest& manifest);
/// Parses a manifest; nullopt if the text is damaged or does not have the format manifest_format.
std::optional<Manifest> parse_manifest(std::string_view text);

/// Upper limits of the numbers in a manifest. Within these limits, products of two numbers do not
/// overflow.
inline constexpr std::int64_t max_segments = std::int64_t{1} << 31;
inline constexpr int max_segment_frames = 1 << 30;

/// The format number in the first line of a manifest.
inline constexpr int manifest_format = 1;

}  // namespace lull::io
