#pragma once
// Permission bits of output files. A user who may not read the source files must not be able to
// read the output.

#include <optional>
#include <string>
#include <vector>

namespace lull::io {

/// Permission bits that a new file may have, before the umask of the process is applied.
struct Access {
  unsigned mode = 0666;
  /// The group to which the group bits of `mode` apply; nullopt: any group.
  std::optional<unsigned> group{};
  bool operator==(const Access&) const = default;
};

/// Returns the permission bits that both `a` and `b` allow. The owner may always read and write.
[[nodiscard]] Access operator&(const Access& a, const Access& b);

/// Returns the permission bits that all of `files` allow. The name `-` stands for the open file
/// `descriptor`. Pipes, devices, network addresses and missing files do not limit the bits.
[[nodiscard]] Access access_of(const std::vector<std::string>& files, int descriptor = 0);

/// Returns the permission bits for a new file whose group is `group`. If `access` applies to
/// another group, the group gets only the permissions that all users have.
[[nodiscard]] unsigned mode_for(const Access& access, unsigned group);
/// Returns the permission bits for a new file of the group `group` that replaces a file with the
/// bits `old`. The function removes the bits of `old` that `access` does not allow.
[[nodiscard]] unsigned mode_for_replacement(const Access& access, unsigned group, unsigned old);

}  // namespace lull::io
