#include "io/segments/result_mark.h"

#include <sys/xattr.h>

#include <array>
#include <charconv>

#include "io/segments/job_text.h"
#include "io/segments/manifest.h"

namespace lull::io {
namespace {

constexpr const char* attribute = "user.lull.job";

std::string mark_of(const std::string& file, const std::string& job, int threads) {
  const auto identity = identity_of(file);
  if (!identity) return {};
  return job + " " + std::to_string(identity->bytes) + " " + std::to_string(identity->changed_ns) +
         " " + std::to_string(threads);
}

std::string mark_on(const std::string& file) {
  std::array<char, 256> text{};
  const auto bytes = ::getxattr(file.c_str(), attribute, text.data(), text.size());
  return bytes > 0 ? std::string(text.data(), static_cast<std::size_t>(bytes)) : std::string();
}

}  // namespace

void mark_result(const std::string& file, const std::string& job, int threads) {
  const std::string mark = mark_of(file, job, threads);
  (void)::setxattr(file.c_str(), attribute, mark.data(), mark.size(), 0);
}

int marked_threads(const std::string& file) {
  const std::string mark = mark_on(file);
  int threads = 0;
  const char* const end = mark.data() + mark.size();
  const auto [stop, error] =
      std::from_chars(mark.data() + (mark.rfind(' ') + 1), end, threads);  // the last word
  const bool is_number = error == std::errc{} && stop == end;
  return is_number && threads > 0 && threads <= max_threads ? threads : 0;
}

bool is_marked(const std::string& file) { return !mark_on(file).empty(); }

bool is_result_of(const std::string& file, const std::string& job) {
  const std::string mark = mark_on(file);
  return !mark.empty() && mark == mark_of(file, job, marked_threads(file));
}

}  // namespace lull::io
