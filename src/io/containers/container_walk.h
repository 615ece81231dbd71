#pragma once
// Checks the structure of a media file unit by unit (chunk, element, packet or block), because
// FFmpeg's demuxers skip damaged units without a report.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "io/files/file_bytes.h"

namespace lull::io {

class ContainerWalk {
 public:
  virtual ~ContainerWalk() = default;
  ContainerWalk(const ContainerWalk&) = delete;
  ContainerWalk& operator=(const ContainerWalk&) = delete;

  /// Continues the check at least to byte `end`. If `end` is the demuxer's position, the check
  /// reads bytes that are still in the page cache.
  void walk_to(std::uint64_t end);
  void walk_to_end() { walk_to(file_.size()); }

  /// Returns the number of faults so far. A fault is a damaged unit (chunk, element, packet or
  /// block), or successive bytes that belong to no unit. Adjacent faults may count as one.
  std::int64_t faults() const { return faults_; }
  /// Returns the description of the first fault; empty if there is none.
  const std::string& first_fault() const { return first_fault_; }
  /// Returns the number of packets of the main video so far; nullopt if the check does not count
  /// packets.
  virtual std::optional<std::int64_t> video_packets() const { return std::nullopt; }

 protected:
  explicit ContainerWalk(const std::string& path);
  /// Checks the unit (chunk, element, packet or block) at `at()`, and advances `at()` to the end of
  /// the unit.
  virtual void step() = 0;

  FileBytes& file() { return file_; }
  std::uint64_t at() const { return at_; }
  void go_to(std::uint64_t at) { at_ = at; }
  /// Ends the check before the end of the file, for example if no further chunk, element, packet or
  /// block follows.
  void stop() { at_ = file_.size(); }
  /// Counts a fault at the position `at()`.
  void add_fault(const std::string& text);
  /// Returns the first position of `pattern` at or after `from`; the size of the file if there is
  /// none.
  std::uint64_t find(std::string_view pattern, std::uint64_t from);

 private:
  FileBytes file_;
  std::uint64_t at_ = 0;
  std::int64_t faults_ = 0;
  std::string first_fault_;
};

/// Opens the structure check for the FFmpeg demuxer `demuxer`. `video` is the stream index of the
/// main video. Returns null if `path` is not a regular file, or if the demuxer itself reports
/// damage.
std::unique_ptr<ContainerWalk> open_container_walk(const std::string& path,
                                                   std::string_view demuxer, int video);

std::unique_ptr<ContainerWalk> open_avi_walk(const std::string& path, int video);
std::unique_ptr<ContainerWalk> open_gif_walk(const std::string& path);
std::unique_ptr<ContainerWalk> open_matroska_walk(const std::string& path, int video);
std::unique_ptr<ContainerWalk> open_nut_walk(const std::string& path);
std::unique_ptr<ContainerWalk> open_transport_walk(const std::string& path);

}  // namespace lull::io
