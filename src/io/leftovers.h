#pragma once
// Finds and removes temporary files and folders of killed processes.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lull::io {

/// Temporary file or folder of an incomplete output.
struct Leftover {
  enum class State {
    abandoned,  // the process that wrote the file does not exist any more
    in_use,     // the process exists, or another process has locked the file
    unknown,    // written on another host, in another container or by an older version
  };
  std::string path;
  std::string output;        // name of the output without its folder; shortened if it is long
  std::int64_t bytes = 0;    // size of the file, or of all files in the folder
  std::int64_t process = 0;  // number of the process that created the file
  State state = State::unknown;
};

/// Returns the temporary files and folders in a folder, sorted by name.
/// @throws NoInput  lull cannot read the folder
[[nodiscard]] std::vector<Leftover> find_leftovers(const std::string& folder);

/// Removes an abandoned file, or an abandoned folder with its contents. Returns false if a process
/// now uses the file or folder, or if the removal failed (see errno).
bool remove_leftover(const Leftover& leftover);

/// Removes the abandoned files and folders in `folder` for which `belongs` accepts the name of the
/// output. The function ignores errors, because remaining files do no harm.
void remove_leftovers(const std::string& folder,
                      const std::function<bool(const std::string& output)>& belongs);

}  // namespace lull::io
