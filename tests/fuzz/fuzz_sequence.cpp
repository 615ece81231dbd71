// Fuzzes the names of picture sequences. The first line is the pattern of a sequence. Each further
// line is the name of a file in the folder in which the pattern is searched. Some pictures exist
// from the start.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "fuzz/fuzz.h"
#include "io/pictures/sequence.h"

namespace {

using namespace lull;
namespace fs = std::filesystem;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_sequence: %s\n", what);
  std::abort();
}

/// A folder of pictures of 2x2 samples. One picture is damaged.
class Folder {
 public:
  Folder() : path_(fuzz::output_name("-sequence")) {
    fs::create_directories(path_);
    for (const char* name : {"in.0001.pgm", "in.0002.pgm", "in.0010.pgm", "a9.pgm", "a10.pgm",
                             "a010.pgm", "%d.pgm", "100.pgm", "[x].pgm", "-1.pgm", ".1.pgm"})
      add(name, "P5 2 2 255\n\1\2\3\4");
    add("damaged.7.pgm", "P5 2 2");
    add("other.8.pgm", "P5 4 1 255\n\1\2\3\4");
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  /// Creates a file; returns false if it exists or cannot be created.
  bool add(const std::string& name, const std::string& content) const {
    const std::string path = in(name);
    std::error_code ignored;  // a name that is too long, for example
    if (name.empty() || name == "." || name == ".." || fs::exists(path, ignored)) return false;
    return static_cast<bool>(std::ofstream(path, std::ios::binary) << content);
  }
  std::string in(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void parse(const std::string& pattern) {
  (void)io::is_glob(pattern);
  (void)io::star_pattern(pattern);
  if (const auto numbers = io::number_pattern(pattern)) {
    require(numbers->digits >= 1 && numbers->digits <= 18, "digits out of range");
    (void)numbers->name(0);
    (void)numbers->name(std::int64_t{1} << 60);
  }
}

/// Each file that matches must have the name that its number or match implies.
void find(const std::string& path) {
  const std::vector<io::SequenceFile> files = io::find_sequence(path);
  (void)io::missing_numbers(files);
  const auto numbers = io::number_pattern(path);
  const auto star = io::star_pattern(path);
  for (std::size_t i = 0; i < files.size(); ++i) {
    require(i == 0 || files[i - 1].number < files[i].number, "numbers do not rise");
    require(!numbers || numbers->name(files[i].number) == files[i].path, "another number");
    require(numbers || !star || star->name(files[i].match) == files[i].path, "another match");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  std::istringstream lines(std::string(data, data + size));
  std::string pattern;
  std::getline(lines, pattern, '\n');
  if (pattern.find('\0') != std::string::npos) return 0;  // a file name cannot contain it
  fuzz::expect_errors([&] { parse(pattern); });

  pattern.erase(0, pattern.rfind('/') + 1);
  std::vector<std::string> added;
  constexpr std::size_t most = 6;
  for (std::string name; added.size() < most && std::getline(lines, name, '\n');)
    if (name.find('/') == std::string::npos && name.find('\0') == std::string::npos &&
        folder.add(name, "P5 2 2 255\n\5\6\7\10"))
      added.push_back(name);
  const std::string path = folder.in(pattern);
  fuzz::expect_errors([&] { find(path); });
  io::SourceOptions options{.threads = 1};
  if (size % 3 == 0) options.selection.ranges = {{1, 1}, {3, io::FrameRange{}.last}};
  options.limits.pixels = 1 << 14;
  fuzz::copy_some([&] { return io::open_source(path, options); },
                  [&](io::MediaSource& source) { return fuzz::open_pipe_sink(source, "y4m"); }, 6);
  std::error_code ignored;
  for (const std::string& name : added) fs::remove(folder.in(name), ignored);
  return 0;
}
