#pragma once
// Checks the names of all files that a command reads and writes, so that no output replaces an
// input or another output.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/access.h"
#include "io/file_names.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// The files of a command. `what` describes a file in messages, for example "the input" or
/// "--mask". Empty names are ignored.
class RunFiles {
 public:
  /// Adds an input: a file, or the pattern of a sequence.
  void read(const std::string& what, const std::string& name);
  /// Adds an input whose samples are visible in the result. Its permission bits limit those of the
  /// result.
  void read_samples(const std::string& what, const std::string& name);
  /// Adds the files of a job, including those that do not exist yet.
  void read_job(const std::string& folder);
  /// Adds an output that is one file.
  void write(const std::string& what, const std::string& name);
  /// Adds an output that can be a pattern. lull fills in the numbers or matched parts of `input`.
  void write_result(const std::string& what, const std::string& name, const std::string& input);
  /// Adds an output that is an open file. It may be the same file as another output.
  void write_open(const std::string& what, int descriptor);

  /// @throws InvalidArgument  an output is also an input or another output
  void check() const;
  /// The access that all inputs of read_samples() allow.
  const io::Access& access() const { return access_; }

 private:
  struct File {
    std::string what, name;
    io::FileLocation location;
  };
  void add(std::vector<File>& files, const std::string& what, const std::string& name);

  std::vector<File> inputs_, outputs_, open_outputs_;
  std::vector<std::pair<std::string, std::string>> patterns_;  // what, pattern
  std::vector<std::string> jobs_;                              // folders
  io::Access access_;
};

/// The files of `lull denoise`, `lull plan` and `lull preview`.
[[nodiscard]] RunFiles files_of(const DenoiseOptions& options);

}  // namespace lull::tools
