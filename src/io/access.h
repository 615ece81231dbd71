#pragma once
// Permission bits of output files. A user without access to the source files must not be able to
// read the output.

#include <optional>
#include <string>
#include <vector>

namespace lull::io {

/// Maximum permission bits of a new file. The umask may remove further bits.
struct Access {
  unsigned mode = 0666;
  /// The group to which the group bits of `mode` apply; nullopt means any group.
  std::optional<unsigned> group{};
  bool operator==(const Access&) const = default;
};

/// Returns the permission bits that both `a` and `b` allow. The owner may always read and write.
[[nodiscard]] Access operator&(const Access& a, const Access& b);

/// Returns the permission bits that all files in `files` allow. The name `-` stands for the open
/// file `descriptor`. Pipes, devices, network addresses and missing files do not limit the bits.
[[nodiscard]] Access access_of(const std::vector<std::string>& files, int descriptor = 0);

/// Returns the permission bits for a new file of the group `group`. If the group bits of `access`
/// apply to another group, `group` gets only those permissions that all other users also get.
[[nodiscard]] unsigned mode_for(const Access& access, unsigned group);
/// Returns the permission bits for a new file of the group `group` that replaces a file with the
/// bits `old`. If `access` does not allow the group to read the file, the group gets no
/// permissions. The same applies to all other users. All remaining bits equal `old`.
[[nodiscard]] unsigned mode_for_replacement(const Access& access, unsigned group, unsigned old);

}  // namespace lull::io
