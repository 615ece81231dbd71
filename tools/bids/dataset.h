#pragma once
// Reads a BIDS dataset (bids-specification.readthedocs.io): its images and their metadata.

#include <map>
#include <string>
#include <vector>

#include "tools/report/json.h"

namespace lull::tools {

/// One image of a dataset. For example, "sub-01/func/sub-01_task-rest_bold.nii.gz" has the entities
/// sub-01 and task-rest, the suffix bold and the type func.
struct BidsImage {
  std::string path;  // relative to the dataset's folder
  std::string folder, subject, type, suffix, extension;
  std::vector<std::string> entities;  // for example "sub-01"; in the order of the name

  /// Returns the name of the result, for example "sub-01_task-rest_desc-denoised_bold" +
  /// `extension`. desc-denoised replaces an existing entity desc.
  std::string derived_name(const std::string& extension) const {
    return derived_name(suffix, extension);
  }
  /// Returns the name of the copy of a companion file, with desc-denoised and the suffix
  /// `other_suffix`.
  std::string derived_name(const std::string& other_suffix, const std::string& extension) const;
};

/// The parts of a file name that consists of entities and a suffix, such as
/// "sub-01_task-rest_bold.json".
struct BidsName {
  std::string name, suffix, extension;
  std::vector<std::string> entities;
};

class BidsDataset {
 public:
  /// @throws NoInput  the folder does not exist, or lull cannot read it
  /// @throws BadData  the folder contains no BIDS dataset, or its description is damaged
  explicit BidsDataset(std::string root);

  const std::string& root() const { return root_; }
  const Json& description() const { return description_; }
  /// Returns the sorted labels of the participants, without the prefix "sub-".
  const std::vector<std::string>& subjects() const { return subjects_; }
  /// Returns the magnitude images of a participant. The images have the types anat, func, dwi and
  /// perf.
  /// @throws NoInput  lull cannot read a folder of the participant
  std::vector<BidsImage> images_of(const std::string& subject) const;
  /// Returns the metadata of an image from JSON files. Files in subfolders take precedence
  /// (inheritance principle of BIDS).
  /// @throws BadData  a JSON file is damaged
  /// @throws NoInput  lull cannot read a JSON file
  Json metadata_of(const BidsImage& image) const;
  /// Returns the file with this suffix and extension that applies to the image. If several files
  /// apply, returns the last element of files_for(), which is in the deepest folder. If no file
  /// applies, returns an empty string.
  std::string companion_of(const BidsImage& image, const std::string& suffix,
                           const std::string& extension) const;
  /// Returns the path of the phase image of a magnitude image, relative to the folder of the
  /// dataset, or an empty string if there is no phase image. The names of the two images differ in
  /// the entity `part`: part-phase instead of part-mag.
  std::string phase_of(const BidsImage& image) const;
  /// Returns all files with this suffix and extension that apply to the image, from the top folder
  /// down.
  std::vector<std::string> files_for(const BidsImage& image, const std::string& suffix,
                                     const std::string& extension) const;
  /// Resolves all links in a path. Returns the resolved path if it is outside of the dataset, and
  /// otherwise an empty string.
  std::string target_outside(const std::string& path) const;

 private:
  /// Returns the files of a folder whose names consist of entities and a suffix. The object caches
  /// the names.
  const std::vector<BidsName>& names_in_folder(const std::string& folder) const;

  std::string root_, real_root_;
  Json description_;
  std::vector<std::string> subjects_;
  mutable std::map<std::string, std::vector<BidsName>> names_;  // key: name of the folder
};

/// @throws InvalidArgument  lull cannot denoise images with this suffix
void require_image_suffix(const std::string& suffix);

/// Returns whether a path is inside a folder. The arguments must be canonical paths
/// (std::filesystem::canonical).
[[nodiscard]] bool is_inside(const std::string& path, const std::string& folder);

/// Reads a JSON object from a file.
/// @throws NoInput, BadData
[[nodiscard]] Json read_json(const std::string& path);

}  // namespace lull::tools
