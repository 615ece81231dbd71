#include "io/access.h"

#include <sys/stat.h>

namespace lull::io {
namespace {

constexpr unsigned owner_bits = 0600;

unsigned bits_of_others(unsigned mode) { return mode & 7; }
unsigned bits_of_group(unsigned mode) { return mode >> 3 & 7; }

/// Restricts the permissions of the group to those that all other users also have.
unsigned without_group(unsigned mode) {
  return (mode & ~070u) | (bits_of_group(mode) & bits_of_others(mode)) << 3;
}

}  // namespace

Access operator&(const Access& a, const Access& b) {
  Access both{.mode = (a.mode & b.mode) | owner_bits, .group = a.group ? a.group : b.group};
  if (a.group && b.group && a.group != b.group) both.mode = without_group(both.mode);
  return both;
}

Access access_of(const std::vector<std::string>& files, int descriptor) {
  Access access;
  for (const std::string& file : files) {
    struct stat status;
    const int code = file == "-" ? ::fstat(descriptor, &status) : ::stat(file.c_str(), &status);
    if (code < 0 || !S_ISREG(status.st_mode)) continue;
    access = access & Access{.mode = status.st_mode & 0666, .group = status.st_gid};
  }
  return access;
}

unsigned mode_for(const Access& access, unsigned group) {
  const bool is_meant = !access.group || access.group == group;
  return (is_meant ? access.mode : without_group(access.mode)) | owner_bits;
}

unsigned mode_for_replacement(const Access& access, unsigned group, unsigned old) {
  const unsigned allowed = mode_for(access, group);
  unsigned mode = old & 0777;
  if (!(allowed & 040)) mode &= ~070u;
  if (!(allowed & 04)) mode &= ~07u;
  return mode;
}

}  // namespace lull::io
