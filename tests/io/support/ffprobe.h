#pragma once
// What ffprobe, a program of its own, says of a file.

#include <string>
#include <utility>
#include <vector>

namespace lull::io::test {

/// Why there is no ffprobe to ask; empty if there is.
const std::string& missing_ffprobe();

class Report {
 public:
  /// Of all streams, chapters and the frames of the first `packets` packets.
  explicit Report(const std::string& path, int packets = 12);
  /// Whether an entry has this value whose name ("streams.stream.0.tags.language", lower case) ends
  /// so.
  bool says(const std::string& name, const std::string& value) const;
  /// Whether any entry's name ends so.
  bool mentions(const std::string& name) const;
  /// The first such entry's value, empty if there is none.
  std::string value(const std::string& name) const;
  /// Whether the bit stream of the video has a syntax element of this value, as FFmpeg's
  /// trace_headers tells.
  bool traces(const std::string& element, int value) const;

 private:
  std::string path_;
  std::vector<std::pair<std::string, std::string>> entries_;
};

}  // namespace lull::io::test
