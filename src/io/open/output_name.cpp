// Checks the name of an output before lull opens the input.

#include <filesystem>

#include "core/error.h"
#include "io/dicom/dicom.h"
#include "io/files/output_file.h"
#include "io/files/output_folder.h"
#include "io/media.h"
#include "io/pictures/sequence.h"
#include "io/stacks/stack.h"
#include "io/zarr/zarr_name.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

/// Checks the name of an output folder: a Zarr store or a DICOM series. Creates no folder, because
/// a new folder could change the content of an input folder.
void check_folder_name(const std::string& path, const SinkOptions& options) {
  OutputFolderOptions folder{.overwrite = options.overwrite, .follow_links = options.follow_links};
  if (is_zarr_name(path)) folder.may_replace = is_zarr;
  std::string target = path.substr(0, path.find_last_not_of('/') + 1);
  if (options.follow_links && is_link(target)) target = resolve_links(target);
  (void)check_free_folder(target, path, folder);
  const fs::path parent = fs::path(target).parent_path();
  std::error_code code;
  if (!parent.empty() && fs::status(parent, code).type() == fs::file_type::not_found)
    throw CannotCreate("cannot create '" + path + "' (" +
                       std::make_error_code(std::errc::no_such_file_or_directory).message() + ")");
}

}  // namespace

void check_output_name(const std::string& path, const std::string& input,
                       const SourceOptions& reading, const SinkOptions& options) {
  std::error_code code;
  if (path == "-" || path == "null" || path == "hash" || options.segments ||
      !fs::exists(input, code))
    return;
  const StackKind kind = stack_kind(input, reading);
  if (kind != StackKind::none) {
    VideoInfo stack;
    stack.volume = kind == StackKind::nifti;
    if (is_dicom(input)) stack.codec = "dicom";
    stack.still = true;  // open_sink() checks patterns, because the number of pages is unknown
    check_stack_output(path, stack);
  }
  if (is_glob(path) || number_pattern(path)) return;
  const bool is_folder =
      kind != StackKind::none && (is_zarr_name(path) || (is_dicom(input) && path.ends_with('/')));
  if (is_folder) return check_folder_name(path, options);
  OutputFileOptions file = file_options(options);
  file.removes_leftovers = false;
  const OutputFile trial(path, file);
}

}  // namespace lull::io
