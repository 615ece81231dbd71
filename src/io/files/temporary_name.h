#pragma once
// Names of temporary files. A name identifies the process that writes the file, so that later
// processes can detect abandoned files.

#include <cstdint>
#include <optional>
#include <string>

namespace lull::io {

/// Identity of a process. The process number alone is not unique, because the system reuses
/// numbers, and each container has its own numbers.
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
/// Returns whether `process` is still running. The result is `unknown` if `process` is not visible
/// to the calling process, for example in another container.
ProcessState state_of(const ProcessIdentity& process);

struct TemporaryName {
  std::string output;  // name of the output, cut to max_output_bytes
  ProcessIdentity process;
  // Whether the name contains the full identity of the process. Names from older versions of lull
  // contain only the process number.
  bool has_identity = true;
};

/// Maximum number of bytes of the output's name within a temporary name. A file name has at most
/// 255 bytes.
inline constexpr std::size_t max_output_bytes = 150;

/// Returns ".OUTPUT.lull-HOST-BOOT-SPACE-PID-START-COUNT-RANDOM.tmp". HOST to START are the members
/// of `own_identity()` in order. COUNT and RANDOM are `count` and `random`.
std::string temporary_name(const std::string& output, int count, std::uint32_t random);

/// Parses the name of a temporary file. Returns nullopt for other names.
std::optional<TemporaryName> parse_temporary_name(const std::string& name);

/// Locks a temporary file if the file system supports locks. The lock ends when the process closes
/// the file.
void lock_temporary(int descriptor);

}  // namespace lull::io
