#pragma once
// The names of all files that a command reads and writes: no output may take the place of an input
// or of another output.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/access.h"
#include "io/file_names.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// `what` names the file for messages: "the input", "--mask". Empty names are ignored.
class RunFiles {
 public:
  /// An input: a file, or the pattern of a sequence.
  void read(const std::string& what, const std::string& name);
  /// An input whose samples the result shows: its permission bits limit those of the result.
  void read_samples(const std::string& what, const std::string& name);
  /// The files of a job, those that are still to be made, too.
  void read_job(const std::string& folder);
  /// An output: one file.
  void write(const std::string& what, const std::string& name);
  /// An output that may be a pattern, filled with the numbers or matches of this input.
  void write_result(const std::string& what, const std::string& name, const std::string& input);
  /// An output that is an open file, and may be the file of another output.
  void write_open(const std::string& what, int descriptor);

  /// @throws InvalidArgument  an output is also an input or another output
  void check() const;
  /// What all inputs with samples allow.
  const io::Access& access() const { return access_; }

 private:
  struct File {
    std::string what, name;
    io::FileLocation place;
  };
  void add(std::vector<File>& files, const std::string& what, const std::string& name);

  std::vector<File> inputs_, outputs_, open_outputs_;
  std::vector<std::pair<std::string, std::string>> patterns_;  // what, pattern
  std::vector<std::string> jobs_;                              // folders
  io::Access access_;
};

/// Those of `lull denoise`, `lull plan` and `lull preview`.
[[nodiscard]] RunFiles files_of(const DenoiseOptions& options);

}  // namespace lull::tools
