#pragma once
// The contents of a file as ffprobe, an independent program, reports them.

#include <string>
#include <utility>
#include <vector>

namespace lull::io::test {

/// Returns the reason why ffprobe is missing; empty if it exists.
const std::string& missing_ffprobe();

class Report {
 public:
  /// Reads all streams, chapters and the frames of the first `packets` packets.
  explicit Report(const std::string& path, int packets = 12);
  /// Returns true if an entry whose name ends with `name` has this value. Names are lower case,
  /// like "streams.stream.0.tags.language".
  bool says(const std::string& name, const std::string& value) const;
  /// Returns true if the name of any entry ends with `name`.
  bool mentions(const std::string& name) const;
  /// Returns the value of the first entry whose name ends with `name`; empty if there is none.
  std::string value(const std::string& name) const;
  /// Returns true if the video bit stream has a syntax element with this value, according to
  /// FFmpeg's trace_headers.
  bool traces(const std::string& element, int value) const;

 private:
  std::string path_;
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace lull::io::test
