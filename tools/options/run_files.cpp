#include "tools/options/run_files.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <tuple>

#include "core/error.h"

namespace lull::tools {
namespace {

using InodeKey = std::pair<std::uint64_t, std::uint64_t>;
using NameKey = std::tuple<std::uint64_t, std::uint64_t, std::string>;

NameKey name_key(const io::FileLocation& place) {
  return {place.folder_device, place.folder_inode, place.name};
}

[[noreturn]] void refuse(const std::string& what, const std::string& name,
                         const std::string& other) {
  throw InvalidArgument(what + (name.empty() ? "" : " " + name) + " is another file of this run (" +
                        other + "); choose another name");
}

/// Finds the file that one of many names means.
class PlaceMap {
 public:
  void add(const io::FileLocation& place, const std::string& what) {
    if (place.inode != 0) by_inode_.emplace(InodeKey{place.device, place.inode}, what);
    if (!place.name.empty()) by_name_.emplace(name_key(place), what);
  }
  const std::string* find(const io::FileLocation& place) const {
    const auto inode = by_inode_.find({place.device, place.inode});
    if (place.inode != 0 && inode != by_inode_.end()) return &inode->second;
    const auto name = by_name_.find(name_key(place));
    return !place.name.empty() && name != by_name_.end() ? &name->second : nullptr;
  }

 private:
  std::map<InodeKey, std::string> by_inode_;
  std::map<NameKey, std::string> by_name_;
};

/// The name of a volume with another extension.
std::string beside_volume(const std::string& volume, const std::string& extension) {
  for (const std::string ending : {".nii.gz", ".nii"})
    if (volume.ends_with(ending))
      return volume.substr(0, volume.size() - ending.size()) + extension;
  return {};
}

}  // namespace

void RunFiles::add(std::vector<File>& files, const std::string& what, const std::string& name) {
  if (const auto place = io::location_of(name)) files.push_back({what, name, *place});
}

void RunFiles::read(const std::string& what, const std::string& name) {
  if (name.empty()) return;
  const std::vector<std::string> files = io::files_of_input(name);
  for (const std::string& file : files) add(inputs_, what, file);
  if (files.empty() && name != "-") add(inputs_, what, name);
  if (const auto place = name == "-" ? io::location_of(STDIN_FILENO) : std::nullopt)
    inputs_.push_back({what, name, *place});
}

void RunFiles::read_samples(const std::string& what, const std::string& name) {
  read(what, name);
  if (name.empty()) return;
  const std::vector<std::string> files =
      name == "-" ? std::vector<std::string>{name} : io::files_of_input(name);
  access_ = access_ & io::access_of(files, STDIN_FILENO);
}

void RunFiles::read_job(const std::string& folder) {
  for (const std::string& file : io::files_of_job(folder))
    add(inputs_, "a file of the job in '" + folder + "'", file);
  jobs_.push_back(folder);
}

void RunFiles::write(const std::string& what, const std::string& name) {
  if (!name.empty()) add(outputs_, what, name);
}

void RunFiles::write_result(const std::string& what, const std::string& name,
                            const std::string& input) {
  if (name.empty()) return;
  const io::OutputFiles files = io::files_of_output(name, input);
  for (const std::string& file : files.names) add(outputs_, what, file);
  if (!files.pattern.empty()) patterns_.emplace_back(what, files.pattern);
}

void RunFiles::write_open(const std::string& what, int descriptor) {
  if (const auto place = io::location_of(descriptor)) open_outputs_.push_back({what, {}, *place});
}

void RunFiles::check() const {
  PlaceMap inputs, outputs;
  for (const File& file : inputs_) inputs.add(file.place, file.what);
  for (const auto* files : {&outputs_, &open_outputs_})
    for (const File& file : *files)
      if (const std::string* other = inputs.find(file.place)) refuse(file.what, file.name, *other);
  for (const File& file : outputs_) {
    const std::string* other = outputs.find(file.place);
    if (other && *other != file.what) refuse(file.what, file.name, *other);
    outputs.add(file.place, file.what);
    for (const std::string& job : jobs_)
      if (io::is_file_of_job(job, file.place))
        refuse(file.what, file.name, "a file of the job in '" + job + "'");
  }
  for (const auto& [what, pattern] : patterns_)
    for (const auto* files : {&inputs_, &outputs_})
      for (const File& file : *files)
        if (file.what != what && io::may_produce(pattern, file.place))
          refuse(what, pattern, file.what + " " + file.name);
}

RunFiles files_of(const DenoiseOptions& options) {
  RunFiles files;
  const bool is_task = options.job.plan && !options.job.plans;
  files.read_samples("the input", options.input);
  files.read_samples("--mask", options.mask);
  if (has_guide_file(options)) files.read_samples(guide_name, options.guide);
  for (const FeatureChoice& choice : options.features)
    files.read_samples(option_of(choice.feature), choice.file);
  if (!is_task) files.read("--noise", options.noise_file);  // a task has the noise of its plan
  files.read("--reference", options.page.reference);
  if (!options.job.folder.empty())
    files.read_job(options.job.folder);
  else if (options.segment_frames > 0)
    files.read_job(options.output + ".lull-job");

  files.write_result("-o", options.output, options.input);
  files.write("--log-file", options.log.file);
  files.write("--metrics-file", options.progress.metrics_file);
  files.write("--report", options.page.file);
  files.write("--grain-table", options.grain_table);
  files.write("--noise-map", options.noise_map);
  if (options.output == "-" || options.output == "hash")
    files.write_open("standard output", STDOUT_FILENO);
  if (options.progress.descriptor != STDERR_FILENO)
    files.write_open("--progress-fd", options.progress.descriptor);
  // The gradients of a series go with it, from and to names that no option has.
  for (const std::string extension : {".bval", ".bvec"}) {
    const std::string from = beside_volume(options.input, extension);
    std::error_code ignored;
    if (from.empty() || !std::filesystem::exists(from, ignored)) continue;
    files.read("the " + extension + " file of the input", from);
    const std::string to = beside_volume(options.output, extension);
    if (!io::same_file(from, to)) files.write("the " + extension + " file of the output", to);
  }
  return files;
}

}  // namespace lull::tools
