#pragma once
// Small file systems in memory, real ones, that go with the process.

#include <string>

namespace lull::tools {

/// A tmpfs of a few bytes on `folder`, which only this process and its children see.
class Mounted {
 public:
  Mounted(const std::string& folder, long bytes);
  ~Mounted();
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;

  /// Why there is none; empty if there is.
  const std::string& problem() const { return problem_; }
  void make_read_only();

 private:
  std::string folder_, problem_;
};

}  // namespace lull::tools
