#pragma once
// Implements `lull compare` for stacks of slices. The values are compared in the units of the
// files.

#include <memory>

#include "io/media.h"
#include "io/text_file.h"
#include "tools/commands/commands.h"

namespace lull::tools {

/// Opens the HTML page of --html. Returns null if the user did not give the option.
/// @throws CannotCreate
[[nodiscard]] std::unique_ptr<io::TextFile> open_page(const CompareOptions& options);

/// Compares two stacks, which are open. The caller must not have read any slice yet.
/// @throws any error of compare()
void compare_volumes(const CompareOptions& options, io::MediaSource& first,
                     io::MediaSource& second);

}  // namespace lull::tools
