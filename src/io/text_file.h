#pragma once
// Small files of text beside videos, which appear under their names when they are whole.

#include <cstddef>
#include <memory>
#include <string>

namespace lull::io {

class TextFile {
 public:
  /// @throws CannotCreate  the file exists and may not be replaced, or cannot be created
  TextFile(const std::string& path, bool overwrite);
  /// Removes what has not got its name.
  ~TextFile();
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  /// Once: `text` is in the file temporary() then. @throws IoError
  void write(const std::string& text);
  const std::string& temporary() const;
  /// Gives it its name. @throws IoError, CannotCreate
  void commit();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

/// All of that at once.
void write_text(const std::string& path, const std::string& text, bool overwrite);

/// @throws NoInput  there is none, or it cannot be read
/// @throws BadData  it is larger than `max_bytes`
[[nodiscard]] std::string read_text(const std::string& path, std::size_t max_bytes);

}  // namespace lull::io
