#pragma once
// Checks all files of a command. No output may overwrite an input or another output.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/access.h"
#include "io/file_names.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// The files of a command. `what` describes a file in messages, for example "the input" or
/// "--mask". The object ignores empty names.
class RunFiles {
 public:
  /// Adds an input: a file, or the pattern of a picture sequence.
  void read(const std::string& what, const std::string& name);
  /// Adds an input whose samples are visible in the result. access() restricts access to the result
  /// to users who may read this input.
  void read_samples(const std::string& what, const std::string& name);
  /// Adds all files of a job, including files that do not exist yet.
  void read_job(const std::string& folder);
  /// Adds an output that is a single file.
  void write(const std::string& what, const std::string& name);
  /// Adds an output: a file, or a pattern for several files. In the name of each file, frame
  /// numbers or parts of the file names of `input` replace the variable parts of the pattern.
  void write_result(const std::string& what, const std::string& name, const std::string& input);
  /// Adds an output that is an open file descriptor. check() allows other outputs to be the same
  /// file.
  void write_open(const std::string& what, int descriptor);

  /// @throws InvalidArgument  an output would overwrite an input or another output
  void check() const;
  /// Returns the access rights that all inputs from read_samples() have in common.
  const io::Access& access() const { return access_; }

 private:
  struct File {
    std::string what, name;
    io::FileLocation location;
  };
  void add(std::vector<File>& files, const std::string& what, const std::string& name);

  std::vector<File> inputs_, outputs_, open_outputs_;
  std::vector<std::pair<std::string, std::string>> patterns_;  // description (`what`) and pattern
  std::vector<std::string> jobs_;                              // folders
  io::Access access_;
};

/// Returns the file name `volume` with its extension replaced by `extension`, or an empty string if
/// `volume` is not the name of a volume file.
[[nodiscard]] std::string with_extension(const std::string& volume, const std::string& extension);

/// Returns all files of `lull denoise`, `lull plan` or `lull preview` for the given options.
[[nodiscard]] RunFiles files_of(const DenoiseOptions& options);

}  // namespace lull::tools
