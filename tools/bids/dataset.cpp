#include "tools/bids/dataset.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "io/text_file.h"
#include "tools/options/option_values.h"

namespace lull::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_json_bytes = std::size_t{1} << 24;
constexpr int max_json_depth = 64;  // metadata of scanners and converters have about ten levels
constexpr std::pair<std::string_view, std::string_view> image_kinds[] = {
    {"anat", "T1w"},   {"anat", "T2w"},   {"anat", "T2starw"},   {"anat", "PDw"},
    {"anat", "FLAIR"}, {"anat", "angio"}, {"anat", "inplaneT1"}, {"anat", "inplaneT2"},
    {"func", "bold"},  {"dwi", "dwi"},    {"perf", "asl"}};

/// Returns the sorted file names in a folder. A missing folder counts as empty.
/// @throws NoInput  lull cannot read the folder
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
    names.push_back(at->path().filename().string());
  const bool is_missing =
      code == std::errc::no_such_file_or_directory || code == std::errc::not_a_directory;
  if (code && !is_missing)
    throw NoInput("cannot read the folder '" + folder.string() + "' (" + code.message() + ")");
  std::ranges::sort(names);
  return names;
}

/// Returns the extension of a file name: ".nii.gz", or the part from the last dot on.
std::string extension_of(const std::string& name) {
  constexpr std::string_view zipped = ".nii.gz";
  if (name.ends_with(zipped)) return std::string(zipped);
  return name.substr(std::min(name.rfind('.'), name.size()));
}

/// Parses a file name. Returns no value if the name does not consist of entities and a suffix.
std::optional<BidsName> parts_of(const std::string& name) {
  const std::string extension = extension_of(name);
  BidsName parts{.name = name,
                 .suffix = {},
                 .extension = extension,
                 .entities = split(name.substr(0, name.size() - extension.size()), '_')};
  parts.suffix = std::move(parts.entities.back());
  parts.entities.pop_back();
  const bool entities = std::ranges::all_of(parts.entities, [](const std::string& entity) {
    return entity.find('-') != std::string::npos;
  });
  return entities ? std::optional(std::move(parts)) : std::nullopt;
}

std::optional<BidsImage> image_of(const std::string& folder, const std::string& type,
                                  const BidsName& name) {
  const bool is_volume = name.extension == ".nii" || name.extension == ".nii.gz";
  if (!is_volume || name.entities.empty() || !name.entities.front().starts_with("sub-"))
    return std::nullopt;
  const BidsImage image{.path = folder + "/" + name.name,
                        .folder = folder,
                        .subject = name.entities.front().substr(4),
                        .type = type,
                        .suffix = name.suffix,
                        .extension = name.extension,
                        .entities = name.entities};
  const bool known = std::ranges::any_of(image_kinds, [&](const auto& kind) {
    return kind.first == image.type && kind.second == image.suffix;
  });
  // Only magnitude images are suitable. The noise of phase images, real parts and imaginary parts
  // has another distribution.
  const bool magnitude = std::ranges::none_of(image.entities, [](const std::string& entity) {
    return entity.starts_with("part-") && entity != "part-mag";
  });
  return known && magnitude ? std::optional(image) : std::nullopt;
}

}  // namespace

std::string BidsImage::derived_name(const std::string& other_suffix,
                                    const std::string& file_extension) const {
  std::string name;
  for (const std::string& entity : entities)
    if (!entity.starts_with("desc-")) name += entity + "_";
  return name + "desc-denoised_" + other_suffix + file_extension;
}

void require_image_suffix(const std::string& suffix) {
  std::string known;
  for (const auto& kind : image_kinds) {
    if (kind.second == suffix) return;
    known += (known.empty() ? "" : ", ") + std::string(kind.second);
  }
  throw InvalidArgument("--suffix " + suffix + " (must be one of " + known + ")");
}

Json read_json(const std::string& path) {
  std::optional<Json> json = parse_json(io::read_text(path, max_json_bytes), max_json_depth);
  if (!json || !json->is_object())
    throw BadData("'" + path + "' is not a JSON object (with " + std::to_string(max_json_depth) +
                  " levels at most); correct it with the help of a BIDS validator");
  return *std::move(json);
}

bool is_inside(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder.ends_with('/') ? folder : folder + "/");
}

BidsDataset::BidsDataset(std::string root) : root_(std::move(root)) {
  std::error_code ignored;
  if (!fs::is_directory(root_, ignored))
    throw NoInput("'" + root_ + "' is not a folder; give the folder of a BIDS dataset");
  const std::string description = root_ + "/dataset_description.json";
  if (!fs::exists(description, ignored))
    throw BadData("'" + root_ + "' is not a BIDS dataset (it has no dataset_description.json); " +
                  "give the folder that has one");
  description_ = read_json(description);
  real_root_ = fs::canonical(root_).string();
  for (const std::string& name : names_in(root_))
    if (name.starts_with("sub-") && fs::is_directory(fs::path(root_) / name, ignored))
      subjects_.push_back(name.substr(4));
  if (subjects_.empty())
    throw BadData("'" + root_ + "' has no participants (folders sub-...); check the name");
}

std::vector<BidsImage> BidsDataset::images_of(const std::string& subject) const {
  const std::string top = "sub-" + subject;
  std::vector<std::string> folders{top};
  for (const std::string& name : names_in(fs::path(root_) / top))
    if (name.starts_with("ses-")) folders.push_back(top + "/" + name);
  std::vector<BidsImage> images;
  for (const std::string& folder : folders)
    for (const std::string type : {"anat", "func", "dwi", "perf"}) {
      const std::string type_folder = folder + "/" + type;
      for (const BidsName& name : names_in_folder(root_ + "/" + type_folder))
        if (auto image = image_of(type_folder, type, name)) images.push_back(*std::move(image));
    }
  return images;
}

const std::vector<BidsName>& BidsDataset::names_in_folder(const std::string& folder) const {
  if (const auto known = names_.find(folder); known != names_.end()) return known->second;
  std::vector<BidsName> names;
  for (const std::string& name : names_in(folder))
    if (auto parts = parts_of(name)) names.push_back(*std::move(parts));
  return names_.emplace(folder, std::move(names)).first->second;
}

std::string BidsDataset::target_outside(const std::string& path) const {
  std::error_code code;
  const std::string target = fs::canonical(path, code).string();
  return code || is_inside(target, real_root_) ? std::string() : target;
}

std::vector<std::string> BidsDataset::files_for(const BidsImage& image, const std::string& suffix,
                                                const std::string& extension) const {
  std::vector<std::string> files;
  std::string folder = root_;
  std::vector<std::string> steps = split(image.folder, '/');
  for (std::size_t depth = 0; depth <= steps.size(); ++depth) {
    if (depth > 0) folder += "/" + steps[depth - 1];
    // The function sorts files by the number of entities in their names, so that more specific
    // files come later.
    std::vector<std::pair<std::size_t, std::string>> applicable;
    for (const BidsName& name : names_in_folder(folder)) {
      if (name.extension != extension || name.suffix != suffix) continue;
      const bool applies = std::ranges::all_of(name.entities, [&](const std::string& entity) {
        return std::ranges::find(image.entities, entity) != image.entities.end();
      });
      if (applies) applicable.emplace_back(name.entities.size(), folder + "/" + name.name);
    }
    std::ranges::stable_sort(applicable, {}, &std::pair<std::size_t, std::string>::first);
    for (auto& [count, path] : applicable) files.push_back(std::move(path));
  }
  return files;
}

Json BidsDataset::metadata_of(const BidsImage& image) const {
  Json metadata = Json::object();
  JsonMembers members(metadata);
  for (const std::string& path : files_for(image, image.suffix, ".json")) {
    Json values = read_json(path);
    for (auto member = values.begin(); member != values.end(); ++member)
      members[member.key()] = std::move(member.value());
  }
  return metadata;
}

std::string BidsDataset::companion_of(const BidsImage& image, const std::string& suffix,
                                      const std::string& extension) const {
  const std::vector<std::string> files = files_for(image, suffix, extension);
  return files.empty() ? "" : files.back();
}

std::string BidsDataset::phase_of(const BidsImage& image) const {
  std::vector<std::string> wanted = image.entities;
  const auto part = std::ranges::find(wanted, "part-mag");
  if (part == wanted.end()) return {};
  *part = "part-phase";
  for (const BidsName& name : names_in_folder(root_ + "/" + image.folder))
    if (name.suffix == image.suffix && name.entities == wanted &&
        (name.extension == ".nii" || name.extension == ".nii.gz"))
      return image.folder + "/" + name.name;
  return {};
}

}  // namespace lull::tools
