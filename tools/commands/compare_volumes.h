#pragma once
// Implements `lull compare` for stacks of slices, in the units of the files.

#include <memory>

#include "io/media.h"
#include "io/text_file.h"
#include "tools/commands/commands.h"

namespace lull::tools {

/// Returns the options for the files of --csv and --html.
[[nodiscard]] io::TextFileOptions file_options(const CompareOptions& options);

/// Opens the HTML page of --html. Without --html, returns null.
/// @throws CannotCreate
[[nodiscard]] std::unique_ptr<io::TextFile> open_page(const CompareOptions& options);

/// Compares two open stacks. The caller must not have read slices from the stacks.
/// @throws any error of compare()
void compare_volumes(const CompareOptions& options, io::MediaSource& first,
                     io::MediaSource& second);

}  // namespace lull::tools
