#include "tools/wrap/video_streams.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/output_file.h"
#include "io/files/temporary_name.h"
#include "io/media.h"
#include "tools/search/noise_search.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;

void check_videos(const DenoiseOptions& options) {
  const auto refuse = [](const std::string& other, const char* why) {
    throw InvalidArgument("--video all with " + other + " (" + why + "); leave one out");
  };
  const std::string& output = options.output.file;
  if (!can_read_again(options.input.file))
    refuse("the input '" + options.input.file + "'", "a pipe can be read only once");
  if (output == "-" || output == "null" || output == "hash")
    refuse("the output '" + output + "'", "it holds one video stream");
  if (options.run.segment_frames > 0 || !options.run.job.folder.empty())
    refuse("a job in segments", "a job has one video stream");
  if (!options.run.page.file.empty()) refuse("--report", "a report shows one video stream");
  if (!options.output.grain_table.empty())
    refuse("--grain-table", "a table describes one video stream");
  if (has_guide_file(options.method)) refuse("--guide", "a guide belongs to one video stream");
  if (options.output.keep) refuse("--keep", "one frame has one video stream");
  std::error_code ignored;
  if (!options.output.overwrite && fs::exists(output, ignored))
    throw CannotCreate("'" + output + "' exists; give -y to overwrite it");
}

/// Returns the numbers of the video streams in the output.
std::vector<int> videos_of(const DenoiseOptions& options) {
  io::SourceOptions reading = source_options(options.input);
  reading.video.reset();
  reading.threads = options.run.threads;
  reading.tolerate_damage = true;
  std::vector<int> videos = io::open_source(options.input.file, reading)->videos();
  const std::vector<int>& dropped = options.output.drops.streams;
  std::erase_if(videos,
                [&](int number) { return std::ranges::find(dropped, number) != dropped.end(); });
  return videos;
}

/// A temporary file with the result for one stream. The pass for the next stream reads this file.
/// The destructor removes the file.
class IntermediateFile {
 public:
  IntermediateFile(const std::string& output, int number) {
    const fs::path path = output;
    const std::string name =
        io::temporary_name(path.filename().string(), number, std::random_device{}());
    path_ = (path.parent_path() / name).string();
  }
  ~IntermediateFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
    fs::remove(io::partial_name(path_), ignored);  // partial result of a damaged stream
  }
  IntermediateFile(const IntermediateFile&) = delete;
  IntermediateFile& operator=(const IntermediateFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Selects the intermediate file `path` as the input. Resets those input options that lull has
/// already applied to the original input, so that they do not take effect twice.
void read_intermediate(DenoiseOptions& options, const std::string& path) {
  options.input.file = path;
  options.input.raw = {};
  options.input.sized = false;
  options.input.source.format.clear();
  options.input.source.selection = {};
  options.output.drops = {};
}

std::string extension_of(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  return extension.empty() ? extension : extension.substr(1);
}

}  // namespace

int denoise_videos(const DenoiseOptions& options, const Notify& info,
                   const DenoiseStream& denoise) {
  check_videos(options);
  DenoiseOptions one = options;
  const std::size_t count = options.output.drops.video ? 1 : videos_of(options).size();
  if (count < 2) return denoise(one);
  std::unique_ptr<IntermediateFile> before;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<int> videos = videos_of(one);
    if (videos.size() != count)
      throw BadData("'" + options.output.file + "' does not hold all video streams of '" +
                    options.input.file + "'; use .mkv, or leave one out with --drop");
    one.input.source.video = videos[i];
    info("video stream " + std::to_string(i + 1) + " of " + std::to_string(count));
    auto result = std::make_unique<IntermediateFile>(options.output.file, static_cast<int>(i));
    const bool is_last = i + 1 == count;
    one.output.file = is_last ? options.output.file : result->path();
    one.output.format = options.output.format;
    if (one.output.format.empty() && !is_last)
      one.output.format = extension_of(options.output.file);
    if (const int code = denoise(one); code != 0) return code;
    read_intermediate(one, result->path());
    before = std::move(result);
  }
  return 0;
}

}  // namespace lull::tools
