#pragma once
// Mounts small file systems in memory, which are unmounted when the process ends.

#include <string>

namespace lull::tools {

/// A tmpfs of a few bytes on `folder`, visible only to this process and its children.
class Mounted {
 public:
  Mounted(const std::string& folder, long bytes);
  ~Mounted();
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;

  /// Returns the reason why the file system could not be mounted; empty if it is mounted.
  const std::string& problem() const { return problem_; }
  void make_read_only();

 private:
  std::string folder_, problem_;
};

}  // namespace lull::tools
