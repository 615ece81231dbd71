#include "io/segments/manifest.h"

#include <sys/stat.h>

#include <algorithm>

#include "io/digest.h"
#include "io/segments/job_text.h"

namespace lull::io {
namespace {

constexpr std::string_view head = "lull job 1\n";

bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool read_segment(LineParser& parser, Manifest& manifest) {
  const auto number = parser.number<std::int64_t>();
  SegmentRecord record{.frames = parser.number<std::int64_t>(),
                       .bytes = parser.number<std::int64_t>(),
                       .sha256 = std::string(parser.word())};
  if (number >= max_segments || record.frames > max_segment_frames || record.frames < 1 ||
      !is_digest(record.sha256))
    return false;
  return manifest.segments.emplace(number, std::move(record)).second;
}

bool read_line(std::string_view line, Manifest& manifest) {
  LineParser parser(line);
  const std::string_view kind = parser.word();
  if (kind == "fact") {
    std::string name = parser.unescaped();
    manifest.facts.push_back({std::move(name), parser.unescaped()});
  } else if (kind == "threads") {
    manifest.threads = parser.number<int>();
    if (manifest.threads > max_threads) return false;
  } else if (kind == "segment") {
    if (!read_segment(parser, manifest)) return false;
  } else if (kind == "result") {
    Manifest::Identity& result = manifest.result.emplace(Manifest::Identity{});
    result.inode = parser.number<std::uint64_t>();
    result.bytes = parser.number<std::uint64_t>();
    result.changed_ns = parser.number<std::uint64_t>();
  } else {
    return false;
  }
  return parser.done();
}

}  // namespace

std::optional<Manifest::Identity> identity_of(const std::string& file) {
  struct stat status;
  if (::stat(file.c_str(), &status) < 0) return std::nullopt;
  return Manifest::Identity{status.st_ino, static_cast<std::uint64_t>(status.st_size),
                            static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1000000000u +
                                static_cast<std::uint64_t>(status.st_mtim.tv_nsec)};
}

std::string difference(const std::vector<JobFact>& before, const std::vector<JobFact>& now) {
  const auto value_in = [](const std::vector<JobFact>& facts, const std::string& name) {
    const auto fact = std::ranges::find(facts, name, &JobFact::name);
    return fact == facts.end() ? "none" : fact->value;
  };
  for (const auto* facts : {&now, &before})
    for (const JobFact& fact : *facts) {
      const std::string old = value_in(before, fact.name), current = value_in(now, fact.name);
      if (old != current) return fact.name + " was " + old + " and is " + current;
    }
  return {};
}

std::string job_id(const std::vector<JobFact>& facts, int threads) {
  std::string text;
  for (const auto& [name, value] : facts) text += escaped(name) + " " + escaped(value) + "\n";
  return sha256_of(text + std::to_string(threads));
}

std::string to_text(const Manifest& manifest) {
  std::string text(head);
  for (const auto& [name, value] : manifest.facts)
    text += "fact " + escaped(name) + " " + escaped(value) + "\n";
  text += "threads " + std::to_string(manifest.threads) + "\n";
  for (const auto& [number, record] : manifest.segments)
    text += "segment " + std::to_string(number) + " " + std::to_string(record.frames) + " " +
            std::to_string(record.bytes) + " " + record.sha256 + "\n";
  if (manifest.result)
    text += "result " + std::to_string(manifest.result->inode) + " " +
            std::to_string(manifest.result->bytes) + " " +
            std::to_string(manifest.result->changed_ns) + "\n";
  return with_checksum(text);
}

std::optional<Manifest> parse_manifest(std::string_view text) {
  Manifest manifest;
  const auto read = [&](std::string_view line) { return read_line(line, manifest); };
  if (!read_checked_lines(text, head, read)) return std::nullopt;
  return manifest;
}

}  // namespace lull::io
