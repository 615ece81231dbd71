#include "tools/options/run_files.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <tuple>

#include "core/error.h"
#include "io/volumes/volume_name.h"

namespace lull::tools {
namespace {

using InodeKey = std::pair<std::uint64_t, std::uint64_t>;
using NameKey = std::tuple<std::uint64_t, std::uint64_t, std::string>;

NameKey name_key(const io::FileLocation& location) {
  return {location.folder_device, location.folder_inode, location.name};
}

constexpr std::string_view the_input = "the input";

/// Describes the conflicting file for an error message.
std::string file_description(const std::string& what) {
  if (what == the_input) return "the input itself";
  if (what == "-o") return "the output";
  return what.starts_with("-") ? "the file of " + what : what;
}

[[noreturn]] void refuse(const std::string& what, const std::string& name,
                         const std::string& other) {
  throw InvalidArgument(what + (name.empty() ? "" : " " + name) +
                        " is another file of this run (it is " + file_description(other) +
                        "); choose another name");
}

/// A map from files to descriptions for messages. The key is the inode, or the folder and name of a
/// missing file.
class LocationMap {
 public:
  void add(const io::FileLocation& location, const std::string& what) {
    if (location.inode != 0) by_inode_.emplace(InodeKey{location.device, location.inode}, what);
    if (!location.name.empty()) by_name_.emplace(name_key(location), what);
  }
  const std::string* find(const io::FileLocation& location) const {
    const auto inode = by_inode_.find({location.device, location.inode});
    if (location.inode != 0 && inode != by_inode_.end()) return &inode->second;
    const auto name = by_name_.find(name_key(location));
    return !location.name.empty() && name != by_name_.end() ? &name->second : nullptr;
  }

 private:
  std::map<InodeKey, std::string> by_inode_;
  std::map<NameKey, std::string> by_name_;
};

}  // namespace

std::string with_extension(const std::string& volume, const std::string& extension) {
  if (io::volume_format(volume) == io::VolumeFormat::none) return {};
  return io::volume_stem(volume) + extension;
}

void RunFiles::add(std::vector<File>& files, const std::string& what, const std::string& name) {
  if (const auto location = io::location_of(name)) files.push_back({what, name, *location});
}

void RunFiles::read(const std::string& what, const std::string& name) {
  if (name.empty()) return;
  const std::vector<std::string> files = io::files_of_input(name);
  for (const std::string& file : files) add(inputs_, what, file);
  if (files.empty() && name != "-") add(inputs_, what, name);
  if (const auto location = name == "-" ? io::location_of(STDIN_FILENO) : std::nullopt)
    inputs_.push_back({what, name, *location});
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
  if (const auto location = io::location_of(descriptor))
    open_outputs_.push_back({what, {}, *location});
}

void RunFiles::check() const {
  LocationMap inputs, outputs;
  for (const File& file : inputs_) inputs.add(file.location, file.what);
  for (const auto* files : {&outputs_, &open_outputs_})
    for (const File& file : *files)
      if (const std::string* other = inputs.find(file.location))
        refuse(file.what, file.name, *other);
  for (const File& file : outputs_) {
    const std::string* other = outputs.find(file.location);
    if (other && *other != file.what) refuse(file.what, file.name, *other);
    outputs.add(file.location, file.what);
    for (const std::string& job : jobs_)
      if (io::is_file_of_job(job, file.location))
        refuse(file.what, file.name, "a file of the job in '" + job + "'");
  }
  for (const auto& [what, pattern] : patterns_)
    for (const auto* files : {&inputs_, &outputs_})
      for (const File& file : *files)
        if (file.what != what && io::may_produce(pattern, file.location))
          refuse(what, pattern, file.what);
}

RunFiles files_of(const DenoiseOptions& options) {
  RunFiles files;
  const bool is_task = options.run.job.plan && !options.run.job.plans;
  files.read_samples(std::string(the_input), options.input.file);
  files.read_samples("--mask", options.input.mask);
  files.read_samples("--phase", options.input.phase);
  if (has_guide_file(options.method)) files.read_samples(guide_name, options.method.guide);
  for (const FeatureChoice& choice : options.method.features)
    files.read_samples(option_of(choice.feature), choice.file);
  // A process of a shared job reads noise and defects from the plan instead of files.
  if (!is_task) files.read("--noise", options.noise.file);
  if (!is_task && names_defect_file(options.noise)) files.read("--repair", options.noise.repair);
  files.read("--reference", options.run.page.reference);
  files.read("--config", options.run.config);
  if (!options.run.job.folder.empty())
    files.read_job(options.run.job.folder);
  else if (options.run.segment_frames > 0)
    files.read_job(options.output.file + ".lull-job");

  files.write_result("-o", options.output.file, options.input.file);
  files.write("--log-file", options.run.log.file);
  files.write("--metrics-file", options.run.progress.metrics_file);
  files.write("--report", options.run.page.file);
  files.write("--grain-table", options.output.grain_table);
  files.write("--noise-map", options.noise.map);
  files.write("--residuals", options.output.residuals);
  files.write("--phase-out", options.output.phase);
  if (options.output.is_stdout()) files.write_open("standard output", STDOUT_FILENO);
  if (options.run.progress.descriptor != STDERR_FILENO)
    files.write_open("--progress-fd", options.run.progress.descriptor);
  // lull copies the gradient files of a diffusion series to the output, although no option names
  // these files.
  for (const std::string extension : {".bval", ".bvec"}) {
    const std::string source = with_extension(options.input.file, extension);
    std::error_code ignored;
    if (source.empty() || !std::filesystem::exists(source, ignored)) continue;
    files.read("the " + extension + " file of the input", source);
    const std::string copy = with_extension(options.output.file, extension);
    if (!io::same_file(source, copy)) files.write("the " + extension + " file of the output", copy);
  }
  return files;
}

}  // namespace lull::tools
