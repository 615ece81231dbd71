#pragma once
// The manifest of a job in segments: what the job is, and what of it is done. Lines of text:
//
//   lull job 1
//   fact --sigma 20
//   threads 4
//   segment 0 250 183423 9f86d081884c7d65...    number, frames, bytes, SHA-256 of its file
//   result 1234 5678 90                         of the finished output, before it has its name
//   sha256 60303ae22b998861...                  of all lines above
//
// In names and values of facts, '%', spaces and what is not printable are written as %XX.

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
  /// A file as the file system knows it, whatever its name.
  struct Identity {
    std::uint64_t inode = 0, bytes = 0, changed_ns = 0;
    bool operator==(const Identity&) const = default;
  };

  std::vector<JobFact> facts;
  int threads = 0;  // of each encoder: with some the bytes depend on it
  std::map<std::int64_t, SegmentRecord> segments;
  std::optional<Identity> result;
};

/// nullopt: no such file.
std::optional<Manifest::Identity> identity_of(const std::string& file);

/// What all segments of a job have in common, a SHA-256: they go together with no others.
std::string job_id(const std::vector<JobFact>& facts, int threads);
/// What is not the same in both, for a message; empty if all is.
std::string difference(const std::vector<JobFact>& before, const std::vector<JobFact>& now);

std::string to_text(const Manifest& manifest);
/// nullopt: damaged, or of another format (manifest_format).
std::optional<Manifest> parse_manifest(std::string_view text);

/// Bounds of what lull itself writes: the product of the two stays in range.
inline constexpr std::int64_t most_segments = std::int64_t{1} << 31;
inline constexpr int most_segment_frames = 1 << 30;

/// The number in the first line of a manifest.
inline constexpr int manifest_format = 1;

}  // namespace lull::io
