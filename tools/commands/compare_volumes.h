#pragma once
// Implements `lull compare` for stacks of slices. The comparison uses the units of the files.

#include <memory>

#include "io/media.h"
#include "io/text_file.h"
#include "tools/commands/commands.h"

namespace lull::tools {

/// Opens the HTML page of --html. Returns null if the user has not requested the page.
/// @throws CannotCreate
[[nodiscard]] std::unique_ptr<io::TextFile> open_page(const CompareOptions& options);

/// Compares two open stacks. The caller must not read slices from the stacks before.
/// @throws any error of compare()
void compare_volumes(const CompareOptions& options, io::MediaSource& first,
                     io::MediaSource& second);

}  // namespace lull::tools
