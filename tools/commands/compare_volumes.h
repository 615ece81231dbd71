#pragma once
// lull compare for stacks of slices. It compares the values in the units of the files.

#include <memory>

#include "io/media.h"
#include "io/text_file.h"
#include "tools/commands/commands.h"

namespace lull::tools {

/// Opens the page of --html. Returns null if the option is not given. @throws CannotCreate
[[nodiscard]] std::unique_ptr<io::TextFile> open_page(const CompareOptions& options);

/// Compares two stacks that are open but not read yet. @throws as compare()
void compare_volumes(const CompareOptions& options, io::MediaSource& first,
                     io::MediaSource& second);

}  // namespace lull::tools
