#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "io/text_file.h"

namespace lull::tools {

/// Writes a CSV file, under a temporary name until the file is complete. If the file name is empty,
/// all functions do nothing.
class Csv {
 public:
  /// Creates a temporary file, and begins the table with the heading.
  /// @throws CannotCreate
  Csv(const std::string& path, const std::string& heading, const io::TextFileOptions& options) {
    if (path.empty()) return;
    file_ = std::make_unique<io::TextFile>(path, options);
    text_ = heading + "\n";
  }
  /// Appends a row. `format` is a format string of printf. The line must have fewer than 256
  /// characters and end with a line feed.
  template <class... Values>
  void row(const char* format, Values... values) {
    if (!file_) return;
    char line[256];
    std::snprintf(line, sizeof line, format, values...);
    text_ += line;
  }
  /// Writes the table, and renames the temporary file to its final name.
  /// @throws IoError, CannotCreate
  void finish() {
    if (!file_) return;
    file_->write(text_);
    file_->commit();
  }

 private:
  std::unique_ptr<io::TextFile> file_;
  std::string text_;
};

}  // namespace lull::tools
