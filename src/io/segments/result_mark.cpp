#include "io/segments/result_mark.h"

#include <sys/xattr.h>

#include <array>

#include "io/segments/manifest.h"

namespace lull::io {
namespace {

constexpr const char* attribute = "user.lull.job";

std::string mark_of(const std::string& file, const std::string& job) {
  const auto identity = identity_of(file);
  if (!identity) return {};
  return job + " " + std::to_string(identity->bytes) + " " + std::to_string(identity->changed_ns);
}

std::string mark_on(const std::string& file) {
  std::array<char, 256> text{};
  const auto bytes = ::getxattr(file.c_str(), attribute, text.data(), text.size());
  return bytes > 0 ? std::string(text.data(), static_cast<std::size_t>(bytes)) : std::string();
}

}  // namespace

void mark_result(const std::string& file, const std::string& job) {
  const std::string mark = mark_of(file, job);
  (void)::setxattr(file.c_str(), attribute, mark.data(), mark.size(), 0);
}

bool is_marked(const std::string& file) { return !mark_on(file).empty(); }

bool is_result_of(const std::string& file, const std::string& job) {
  const std::string mark = mark_on(file);
  return !mark.empty() && mark == mark_of(file, job);
}

}  // namespace lull::io
