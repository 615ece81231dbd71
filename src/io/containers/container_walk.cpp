#include "io/containers/container_walk.h"

#include <filesystem>
#include <system_error>
#include <vector>

namespace lull::io {
namespace {

std::uint64_t size_of(const std::string& path) {
  std::error_code code;
  const std::uintmax_t size = std::filesystem::file_size(path, code);
  return code ? 0 : size;
}

}  // namespace

ContainerWalk::ContainerWalk(const std::string& path) : file_(path, size_of(path)) {}

void ContainerWalk::walk_to(std::uint64_t end) {
  // The check ends after 10000 faults, because the time of the check can grow quadratically with
  // the number of faults.
  constexpr std::int64_t max_faults = 10000;
  while (at_ < end && at_ < file_.size()) {
    const std::uint64_t before = at_;
    step();
    if (at_ == before) at_ = before + 1;
    if (faults_ > max_faults) stop();
  }
}

void ContainerWalk::add_fault(const std::string& text) {
  if (faults_++ == 0) first_fault_ = text + " at byte " + std::to_string(at_);
}

std::uint64_t ContainerWalk::find(std::string_view pattern, std::uint64_t from) {
  constexpr std::uint64_t block = 1 << 16;
  std::vector<char> bytes;
  while (from + pattern.size() <= file_.size()) {
    bytes.resize(std::min(block, file_.size() - from));
    if (!file_.read(from, bytes.data(), bytes.size())) break;
    const std::string_view text(bytes.data(), bytes.size());
    if (const std::size_t found = text.find(pattern); found != text.npos) return from + found;
    from += bytes.size() - (pattern.size() - 1);
  }
  return file_.size();
}

std::unique_ptr<ContainerWalk> open_container_walk(const std::string& path,
                                                   std::string_view demuxer, int video) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return nullptr;
  if (demuxer.find("matroska") != demuxer.npos) return open_matroska_walk(path, video);
  if (demuxer == "nut") return open_nut_walk(path);
  if (demuxer == "avi") return open_avi_walk(path, video);
  if (demuxer == "gif") return open_gif_walk(path);
  if (demuxer == "mpegts") return open_transport_walk(path);
  return nullptr;
}

}  // namespace lull::io
