#pragma once
// Names of temporary files. A name identifies the writing process, so that later processes can
// detect abandoned files.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace lull::io {

/// Identity of a process. The process ID alone is not unique, because the system reuses IDs and
/// each container numbers its processes separately.
struct ProcessIdentity {
  std::string host;              // digest of the host's name and number
  std::string boot;              // digest of the number of the host's last start
  std::uint64_t name_space = 0;  // namespace of `number`
  std::int64_t number = 0;
  std::uint64_t start = 0;  // clock ticks after the host's start; 0: unknown
  bool operator==(const ProcessIdentity&) const = default;
};

/// Returns the identity of the calling process.
const ProcessIdentity& own_identity();

enum class ProcessState { running, ended, unknown };
/// Returns whether `process` is still running; `unknown` if `process` is not visible, for example
/// in another container.
ProcessState state_of(const ProcessIdentity& process);

struct TemporaryName {
  std::string output;  // name of the output, cut to max_output_bytes
  ProcessIdentity process;
  // Whether the name contains the full identity of the process. Names from older versions of lull
  // contain only the process ID.
  bool has_identity = true;
};

/// Maximum length in bytes of the output's name within a temporary name. A file name has at most
/// 255 bytes.
inline constexpr std::size_t max_output_bytes = 150;

/// Returns the first bytes of `name`, at most `max_bytes`. The function omits an incomplete UTF-8
/// character at the end, because some file systems (exFAT, NTFS) refuse such names.
std::string cut_name(const std::string& name, std::size_t max_bytes = max_output_bytes);

/// Returns ".OUTPUT.lull-HOST-BOOT-SPACE-PID-START-COUNT-RANDOM.tmp". HOST to START are the members
/// of `own_identity()` in order.
std::string temporary_name(const std::string& output, int count, std::uint32_t random);

/// Parses the name of a temporary file. Returns nullopt if the name is not the name of a temporary
/// file of lull.
std::optional<TemporaryName> parse_temporary_name(const std::string& name);

/// Locks a temporary file until the process closes it, if the file system supports locks.
void lock_temporary(int descriptor);

}  // namespace lull::io
