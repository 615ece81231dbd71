#pragma once
// Bytes that do not fit in memory: a file without a name, gone with the object or the process.

#include <cstddef>
#include <cstdint>
#include <string>

namespace lull::io {

/// First in, first out.
class ScratchFile {
 public:
  /// Nothing is created before the first write. `folder` empty: the system's for temporary files.
  explicit ScratchFile(std::string folder) : folder_(std::move(folder)) {}
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// @throws IoError
  void write(const void* data, std::size_t bytes);
  /// Of what was written and not read yet. @throws IoError, also if there is less
  void read(void* data, std::size_t bytes);
  std::int64_t left() const { return end_ - begin_; }
  /// Forgets what is left.
  void clear() noexcept;

 private:
  void create();
  [[noreturn]] void fail(const std::string& what) const;

  std::string folder_;
  int descriptor_ = -1;
  std::int64_t begin_ = 0, end_ = 0;
};

}  // namespace lull::io
