#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "core/error.h"
#include "io/access.h"

namespace lull::tools {

/// Writes a CSV file. If the file name is empty, all functions do nothing.
class Csv {
 public:
  /// Opens the file and writes the heading. `access` determines the permission bits of a new file.
  /// @throws CannotCreate
  Csv(const std::string& path, const char* heading, const io::Access& access) : path_(path) {
    if (path.empty()) return;
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                                  io::mode_for(access, ::getegid()));
    if (descriptor >= 0) file_.reset(::fdopen(descriptor, "w"));
    if (!file_)
      throw CannotCreate(path +
                         " cannot be created (no such folder, or no right to write); "
                         "choose another name");
    std::fprintf(file_.get(), "%s\n", heading);
  }
  /// `format` is a format string of printf that ends with a line feed.
  template <class... Values>
  void row(const char* format, Values... values) {
    if (file_) std::fprintf(file_.get(), format, values...);
  }
  /// Closes the file.
  /// @throws IoError  a write has failed
  void finish() {
    if (!file_) return;
    const bool failed = std::ferror(file_.get()) != 0;
    if (std::fclose(file_.release()) != 0 || failed)
      throw IoError("writing " + path_ + " failed (is the disk full?); free some space");
  }

 private:
  struct Closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace lull::tools
