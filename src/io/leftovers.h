#pragma once
// Finds and removes temporary files and folders of processes that were killed.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lull::io {

/// A temporary file of an unfinished output, or a temporary folder of an output that is a folder.
struct Leftover {
  enum class State {
    abandoned,  // the process that wrote the file does not exist any more
    in_use,     // the process exists, or another process has locked the file
    unknown,    // written on another host, in another container or by an older version
  };
  std::string path;
  std::string output;  // name of the output without a folder; long names are cut
  std::int64_t bytes = 0;
  std::int64_t process = 0;  // number of the process that created the file
  State state = State::unknown;
};

/// Returns the temporary files and folders in a folder, sorted by name.
/// @throws NoInput  the folder cannot be read
[[nodiscard]] std::vector<Leftover> find_leftovers(const std::string& folder);

/// Removes an abandoned file, or an abandoned folder with its contents. Returns false if the file
/// is no longer abandoned, or if it cannot be removed (errno is the reason).
bool remove_leftover(const Leftover& leftover);

/// Removes each abandoned file in `folder` if `belongs` returns true for the name of its output.
/// Errors are ignored, because files that remain do no harm.
void remove_leftovers(const std::string& folder,
                      const std::function<bool(const std::string& output)>& belongs);

}  // namespace lull::io
