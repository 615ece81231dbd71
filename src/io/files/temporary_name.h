#pragma once
// Names of temporary files. They identify the process that writes the file, so that a later process
// can tell whether the file is abandoned.

#include <cstdint>
#include <optional>
#include <string>

namespace lull::io {

/// Identity of a process. A number of a process is reused after its end, and containers count their
/// processes separately.
struct ProcessIdentity {
  std::string host;              // digest of the host's name and number
  std::string boot;              // digest of the number of the host's last start
  std::uint64_t name_space = 0;  // in which `number` counts
  std::int64_t number = 0;
  std::uint64_t start = 0;  // clock ticks after the host's start; 0: unknown
  bool operator==(const ProcessIdentity&) const = default;
};

/// Returns the identity of this process.
const ProcessIdentity& own_identity();

enum class ProcessState { running, ended, unknown };
/// Returns whether the process still runs; unknown if this process cannot see it.
ProcessState state_of(const ProcessIdentity& process);

struct TemporaryName {
  std::string output;  // name of the output, cut to max_output_bytes
  ProcessIdentity process;
  bool has_identity = true;  // false: a name of an older version, with the process number only
};

/// A file name may have 255 bytes.
inline constexpr std::size_t max_output_bytes = 150;

/// Returns ".OUTPUT.lull-HOST-BOOT-SPACE-PID-START-COUNT-RANDOM.tmp" for this process.
std::string temporary_name(const std::string& output, int count, std::uint32_t random);

/// Returns the parts of the name of a temporary file; nullopt for other names.
std::optional<TemporaryName> parse_temporary_name(const std::string& name);

/// Locks a temporary file for as long as it is open. Not every file system supports locks.
void lock_temporary(int descriptor);

}  // namespace lull::io
