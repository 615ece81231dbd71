#pragma once
// Names of temporary files. The name of a temporary file identifies the process that writes the
// file. Later processes can therefore detect whether that process has ended, so that the file is
// abandoned.

#include <cstdint>
#include <optional>
#include <string>

namespace lull::io {

/// Identity of a process. The process number alone is not sufficient, because the system assigns
/// the number of an ended process again, and because each container numbers its processes
/// separately.
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
/// Returns whether `process` is still running. The result is `unknown` if the calling process
/// cannot see `process`, for example because `process` belongs to another container.
ProcessState state_of(const ProcessIdentity& process);

struct TemporaryName {
  std::string output;  // name of the output, cut to max_output_bytes
  ProcessIdentity process;
  // True if the name contains the full identity of the process. Names from older versions of lull
  // contain only the process number.
  bool has_identity = true;
};

/// Maximum length of the output's name within a temporary name. A file name may have at most 255
/// bytes.
inline constexpr std::size_t max_output_bytes = 150;

/// Returns ".OUTPUT.lull-HOST-BOOT-SPACE-PID-START-COUNT-RANDOM.tmp". The fields HOST to START are
/// the members of own_identity(), in order. COUNT and RANDOM are the arguments `count` and
/// `random`.
std::string temporary_name(const std::string& output, int count, std::uint32_t random);

/// Parses the name of a temporary file. Returns nullopt for other names.
std::optional<TemporaryName> parse_temporary_name(const std::string& name);

/// Locks a temporary file. The lock ends when the process closes the file. Some file systems do not
/// support locks.
void lock_temporary(int descriptor);

}  // namespace lull::io
