#pragma once
// Names of temporary files. A name identifies the process that writes the file. A process that
// starts later can therefore determine whether the writing process has ended. In this case the file
// is abandoned.

#include <cstdint>
#include <optional>
#include <string>

namespace lull::io {

/// Identity of a process. The process number alone is not sufficient, because a number is used
/// again after its process has ended, and because each container numbers its processes separately.
struct ProcessIdentity {
  std::string host;              // digest of the host's name and number
  std::string boot;              // digest of the number of the host's last start
  std::uint64_t name_space = 0;  // namespace of `number`
  std::int64_t number = 0;
  std::uint64_t start = 0;  // clock ticks after the host's start; 0: unknown
  bool operator==(const ProcessIdentity&) const = default;
};

/// Returns the identity of this process.
const ProcessIdentity& own_identity();

enum class ProcessState { running, ended, unknown };
/// Returns whether `process` is still running. The result is `unknown` if `process` is not visible
/// for the calling process, for example in another container.
ProcessState state_of(const ProcessIdentity& process);

struct TemporaryName {
  std::string output;  // name of the output, cut to max_output_bytes
  ProcessIdentity process;
  // If false, the name comes from an older version of lull and has only the process number.
  bool has_identity = true;
};

/// Maximum length of the output's name within a temporary name. A file name may have at most 255
/// bytes.
inline constexpr std::size_t max_output_bytes = 150;

/// Returns ".OUTPUT.lull-HOST-BOOT-SPACE-PID-START-COUNT-RANDOM.tmp" for this process.
std::string temporary_name(const std::string& output, int count, std::uint32_t random);

/// Returns the parts of the name of a temporary file; nullopt for other names.
std::optional<TemporaryName> parse_temporary_name(const std::string& name);

/// Locks a temporary file until it is closed. Not every file system supports locks.
void lock_temporary(int descriptor);

}  // namespace lull::io
