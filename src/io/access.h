#pragma once
// Permission bits of files that are made of other files: a result is not readable for users who may
// not read its sources.

#include <optional>
#include <string>
#include <vector>

namespace lull::io {

/// Permission bits that a new file may have, before the umask of the process.
struct Access {
  unsigned mode = 0666;
  /// The group whose members the group's bits concern; empty: any group.
  std::optional<unsigned> group{};
  bool operator==(const Access&) const = default;
};

/// The bits that both allow. The owner may always read and write.
[[nodiscard]] Access operator&(const Access& a, const Access& b);

/// The bits that all of these files allow. `-` is the open file `descriptor`. Names of pipes,
/// devices, addresses and missing files do not limit the bits.
[[nodiscard]] Access access_of(const std::vector<std::string>& files, int descriptor = 0);

/// The bits for a new file of this group.
[[nodiscard]] unsigned mode_for(const Access& access, unsigned group);
/// The bits for a file of this group that replaces one with the bits `old`: those bits, except for
/// the users who may not read the sources.
[[nodiscard]] unsigned mode_for_replacement(const Access& access, unsigned group, unsigned old);

}  // namespace lull::io
