#pragma once
// Follows the structure of a media file from unit to unit. Demuxers of FFmpeg look for the next
// unit that they know where the structure is damaged, and drop what lies between without a word.

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

  /// Goes on until byte `end` of the file at least; behind its end, does nothing. Reads the file
  /// only once, near the place where a demuxer is that reads the same file.
  void walk_to(std::uint64_t end);
  /// Goes on to the end of the file.
  void walk_to_end() { walk_to(file_.size()); }

  /// How many faults were found: units that are damaged, and runs of bytes that are no unit.
  std::int64_t faults() const { return faults_; }
  /// What the first fault is; empty if there is none.
  const std::string& first_fault() const { return first_fault_; }
  /// How many packets of the main video there are, as far as the walk has come. Nothing where the
  /// walk does not count them.
  virtual std::optional<std::int64_t> video_packets() const { return std::nullopt; }

 protected:
  explicit ContainerWalk(const std::string& path);
  /// Goes past the unit at at().
  virtual void step() = 0;

  FileBytes& file() { return file_; }
  std::uint64_t at() const { return at_; }
  void go_to(std::uint64_t at) { at_ = at; }
  /// Nothing that follows belongs to the structure.
  void stop() { at_ = file_.size(); }
  /// Counts a fault at at().
  void add_fault(const std::string& text);
  /// The next place from `from` on where the bytes are `pattern`; the file's size: there is none.
  std::uint64_t find(std::string_view pattern, std::uint64_t from);

 private:
  FileBytes file_;
  std::uint64_t at_ = 0;
  std::int64_t faults_ = 0;
  std::string first_fault_;
};

/// The walk for what FFmpeg's demuxer of this name reads. `video` is the number of the main video
/// among the streams. Null for containers whose demuxer reports
/// damage by itself, and for what is not a regular file.
std::unique_ptr<ContainerWalk> open_container_walk(const std::string& path,
                                                   std::string_view demuxer, int video);

std::unique_ptr<ContainerWalk> open_avi_walk(const std::string& path, int video);
std::unique_ptr<ContainerWalk> open_gif_walk(const std::string& path);
std::unique_ptr<ContainerWalk> open_matroska_walk(const std::string& path);
std::unique_ptr<ContainerWalk> open_nut_walk(const std::string& path);
std::unique_ptr<ContainerWalk> open_transport_walk(const std::string& path);

}  // namespace lull::io
