#pragma once
// A dataset in the form of BIDS (bids-specification.readthedocs.io): which images it has, and what
// is known of them.

#include <map>
#include <string>
#include <vector>

#include "tools/report/json.h"

namespace lull::tools {

/// One image. "sub-01/func/sub-01_task-rest_bold.nii.gz": entities sub-01 and task-rest, suffix
/// bold, extension .nii.gz, type func.
struct BidsImage {
  std::string path;  // from the dataset's folder
  std::string folder, subject, type, suffix, extension;
  std::vector<std::string> entities;  // "sub-01", in their order

  /// "sub-01_task-rest_desc-denoised_bold" and so on, behind another description.
  std::string derived_name(const std::string& extension) const;
};

/// The name of a file with entities: "sub-01_task-rest_bold.json".
struct BidsName {
  std::string name, suffix, extension;
  std::vector<std::string> entities;
};

class BidsDataset {
 public:
  /// @throws NoInput  there is no such folder; BadData  it is no such dataset, or its description
  /// is
  ///         damaged
  explicit BidsDataset(std::string root);

  const std::string& root() const { return root_; }
  const Json& description() const { return description_; }
  /// Labels without "sub-", sorted.
  const std::vector<std::string>& subjects() const { return subjects_; }
  /// Images of noise that can be denoised: magnitudes, of the types anat, func, dwi and perf.
  std::vector<BidsImage> images_of(const std::string& subject) const;
  /// What JSON files say of an image, by the inheritance principle: those of folders above, then
  /// its own. @throws BadData  one of them is damaged; NoInput  it cannot be read
  Json metadata_of(const BidsImage& image) const;
  /// The nearest file of this extension that belongs to the image; empty if there is none.
  std::string companion_of(const BidsImage& image, const std::string& extension) const;
  /// All files of this extension that apply to the image, from the dataset's folder down to the
  /// image's own.
  std::vector<std::string> files_for(const BidsImage& image, const std::string& extension) const;
  /// Where a file of the dataset really is, if links lead out of the dataset; else empty.
  std::string place_outside(const std::string& path) const;

 private:
  /// Names with entities in a folder, which is listed once.
  const std::vector<BidsName>& names_in_folder(const std::string& folder) const;

  std::string root_, real_root_;
  Json description_;
  std::vector<std::string> subjects_;
  mutable std::map<std::string, std::vector<BidsName>> names_;  // by folder
};

/// @throws InvalidArgument  no image that can be denoised has this suffix
void require_image_suffix(const std::string& suffix);

/// Whether a path lies in a folder; both without links (std::filesystem::canonical).
[[nodiscard]] bool is_inside(const std::string& path, const std::string& folder);

/// An object in a file of JSON. @throws NoInput, BadData
[[nodiscard]] Json read_json(const std::string& path);

}  // namespace lull::tools
