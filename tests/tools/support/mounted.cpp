#include "tools/support/mounted.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace lull::tools {
namespace {

/// Enters a mount namespace of its own, as root or as root of a user namespace.
std::string own_mounts() {
  const auto user = geteuid(), group = getegid();
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
      return std::string("no right to mount: ") + std::strerror(errno);
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return std::string("mounts stay shared: ") + std::strerror(errno);
  return {};
}

}  // namespace

Mounted::Mounted(const std::string& folder, long bytes) : folder_(folder) {
  static const std::string no_right = own_mounts();
  problem_ = no_right;
  if (!problem_.empty()) return;
  const std::string options = "size=" + std::to_string(bytes);
  if (mount("lull-test", folder_.c_str(), "tmpfs", 0, options.c_str()) != 0)
    problem_ = std::string("no tmpfs: ") + std::strerror(errno);
}

Mounted::~Mounted() {
  if (problem_.empty()) umount2(folder_.c_str(), MNT_DETACH);
}

void Mounted::make_read_only() {
  if (mount("none", folder_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0)
    throw std::runtime_error(std::string("remount: ") + std::strerror(errno));
}

}  // namespace lull::tools
