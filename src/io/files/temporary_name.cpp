#include "io/files/temporary_name.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "io/files/sha256.h"

namespace lull::io {
namespace {

constexpr std::string_view mark = ".lull-", ending = ".tmp";
constexpr std::size_t digest_characters = 8;

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string short_digest(const std::string& text) {
  Sha256 digest;
  digest.add(text.data(), text.size());
  return digest.take().substr(0, digest_characters);
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::vector<std::string_view> split_fields(std::string_view text) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('-', at), text.size());
    fields.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return fields;
}

struct ProcessStatus {
  char state = 0;  // 'Z' and 'X': the process has ended
  std::uint64_t start = 0;
};

/// Reads the state and the start time of a process from "stat" (proc(5), fields 3 and 22). The
/// program name before field 3 may contain any characters, even parentheses.
std::optional<ProcessStatus> status_of(const std::string& process) {
  const std::string text = text_of_file("/proc/" + process + "/stat");
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos || end + 2 >= text.size()) return std::nullopt;
  constexpr int first = 3, start = 22;
  std::size_t at = end + 2;
  ProcessStatus status{.state = text[at]};
  for (int field = first; field < start && at != std::string::npos; ++field)
    at = text.find(' ', at + 1);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t stop = text.find(' ', at + 1);
  status.start =
      number_of<std::uint64_t>(std::string_view(text).substr(at + 1, stop - at - 1)).value_or(0);
  return status;
}

ProcessIdentity find_own_identity() {
  std::array<char, 256> host{};
  (void)::gethostname(host.data(), host.size() - 1);
  ProcessIdentity own;
  own.host = short_digest(std::string(host.data()) + "\n" + text_of_file("/etc/machine-id"));
  own.boot = short_digest(text_of_file("/proc/sys/kernel/random/boot_id"));
  struct stat name_space;
  if (::stat("/proc/self/ns/pid", &name_space) == 0) own.name_space = name_space.st_ino;
  own.number = ::getpid();
  if (const auto status = status_of("self")) own.start = status->start;
  return own;
}

}  // namespace

// The function compares the stored process ID with the current one, because the ID differs in a
// child process after fork().
const ProcessIdentity& own_identity() {
  thread_local ProcessIdentity own = find_own_identity();
  if (own.number != ::getpid()) own = find_own_identity();
  return own;
}

ProcessState state_of(const ProcessIdentity& process) {
  const ProcessIdentity& own = own_identity();
  if (process.host != own.host) return ProcessState::unknown;
  if (process.boot != own.boot) return ProcessState::ended;  // the host has been restarted
  if (process.name_space != own.name_space || process.start == 0) return ProcessState::unknown;
  const auto status = status_of(std::to_string(process.number));
  if (!status) {
    const bool is_missing = ::kill(static_cast<pid_t>(process.number), 0) < 0 && errno == ESRCH;
    return is_missing ? ProcessState::ended : ProcessState::unknown;
  }
  const bool has_ended =
      status->start != process.start || status->state == 'Z' || status->state == 'X';
  return has_ended ? ProcessState::ended : ProcessState::running;
}

std::string cut_name(const std::string& name, std::size_t max_bytes) {
  if (name.size() <= max_bytes) return name;
  constexpr std::size_t max_continuation = 3;  // bytes of a character after its first byte
  const auto continues = [&](std::size_t at) { return (name[at] & 0xc0) == 0x80; };
  std::size_t end = max_bytes;
  while (end > 0 && max_bytes - end < max_continuation && continues(end)) --end;
  return name.substr(0, continues(end) ? max_bytes : end);
}

std::string temporary_name(const std::string& output, int count, std::uint32_t random) {
  const ProcessIdentity& own = own_identity();
  std::string name = "." + cut_name(output) + std::string(mark);
  for (const std::string& field :
       {own.host, own.boot, std::to_string(own.name_space), std::to_string(own.number),
        std::to_string(own.start), std::to_string(count)})
    name += field + "-";
  return name + std::to_string(random) + std::string(ending);
}

std::optional<TemporaryName> parse_temporary_name(const std::string& name) {
  const std::size_t at = name.rfind(mark);
  if (!name.starts_with(".") || !name.ends_with(ending) || at == std::string::npos || at < 2 ||
      at + mark.size() + ending.size() > name.size())
    return std::nullopt;
  const std::string_view rest = std::string_view(name).substr(
      at + mark.size(), name.size() - at - mark.size() - ending.size());
  const std::vector<std::string_view> fields = split_fields(rest);
  TemporaryName parsed{.output = name.substr(1, at - 1), .process = {}};
  constexpr std::size_t all = 7, of_older_version = 3;
  if (fields.size() != all && fields.size() != of_older_version) return std::nullopt;
  parsed.has_identity = fields.size() == all;
  const std::size_t first = parsed.has_identity ? 2 : 0;  // the first field that is a number
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = first; i < fields.size(); ++i) {
    const auto number = number_of<std::uint64_t>(fields[i]);
    if (!number || *number > INT64_MAX) return std::nullopt;
    numbers.push_back(*number);
  }
  ProcessIdentity& process = parsed.process;
  if (!parsed.has_identity) {
    process.number = static_cast<std::int64_t>(numbers[0]);
    return parsed;
  }
  process.host = fields[0];
  process.boot = fields[1];
  process.name_space = numbers[0];
  process.number = static_cast<std::int64_t>(numbers[1]);
  process.start = numbers[2];
  return parsed;
}

void lock_temporary(int descriptor) { (void)::flock(descriptor, LOCK_EX | LOCK_NB); }

}  // namespace lull::io
