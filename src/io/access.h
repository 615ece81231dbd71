#pragma once
// Permission bits of output files. lull chooses the bits such that a user without permission to
// read the source files gets no permission to read the output.

#include <optional>
#include <string>
#include <vector>

namespace lull::io {

/// Permission bits that a new file may have, before the umask of the process is applied.
struct Access {
  unsigned mode = 0666;
  /// The group to which the group bits of `mode` apply. Without a value, these bits apply to any
  /// group.
  std::optional<unsigned> group{};
  bool operator==(const Access&) const = default;
};

/// Returns the permission bits that both `a` and `b` allow. The owner may always read and write.
[[nodiscard]] Access operator&(const Access& a, const Access& b);

/// Returns the permission bits that all files of the list `files` allow. The name `-` stands for
/// the open file `descriptor`. Pipes, devices, network addresses and missing files do not limit the
/// bits.
[[nodiscard]] Access access_of(const std::vector<std::string>& files, int descriptor = 0);

/// Returns the permission bits for a new file in the group with the number `group`. If the group
/// bits of `access` are meant for another group, the group gets only the permissions that all users
/// have.
[[nodiscard]] unsigned mode_for(const Access& access, unsigned group);
/// Returns the permission bits for a new file that replaces a file with the bits `old`. The new
/// file belongs to the group `group`. The result contains those bits of `old` that give no access
/// to users without permission to read the source files.
[[nodiscard]] unsigned mode_for_replacement(const Access& access, unsigned group, unsigned old);

}  // namespace lull::io
