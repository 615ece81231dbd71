#pragma once
// Checks the names of all files that a command reads and writes, so that no output overwrites an
// input or another output.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/access.h"
#include "io/file_names.h"
#include "tools/options/denoise_options.h"

namespace lull::tools {

/// The list of the files of a command. `what` describes a file in messages, for example "the input"
/// or "--mask". Empty names are ignored.
class RunFiles {
 public:
  /// Adds an input: a file or the pattern of a picture sequence.
  void read(const std::string& what, const std::string& name);
  /// Adds an input whose samples are visible in the result. Only users who may read this input may
  /// then read the result.
  void read_samples(const std::string& what, const std::string& name);
  /// Adds the files of a job, including those that do not exist yet.
  void read_job(const std::string& folder);
  /// Adds an output that is a single file.
  void write(const std::string& what, const std::string& name);
  /// Adds an output: a single file, or a pattern that is completed by the numbers or the matched
  /// parts of the names of `input`.
  void write_result(const std::string& what, const std::string& name, const std::string& input);
  /// Adds an output that is already open as a file descriptor, which may refer to the file of
  /// another output.
  void write_open(const std::string& what, int descriptor);

  /// Throws an error if an output is also an input or another output.
  /// @throws InvalidArgument
  void check() const;
  /// Returns the access rights that are common to all inputs that read_samples() added.
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

/// Returns the file name `volume` with another extension; empty if `volume` is not the name of a
/// volume.
[[nodiscard]] std::string with_extension(const std::string& volume, const std::string& extension);

/// Returns all files that `lull denoise`, `lull plan` or `lull preview` reads and writes with these
/// options.
[[nodiscard]] RunFiles files_of(const DenoiseOptions& options);

}  // namespace lull::tools
