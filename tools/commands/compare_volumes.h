#pragma once
// lull compare for stacks of slices, in the values of their files.

#include <memory>

#include "io/media.h"
#include "io/text_file.h"
#include "tools/commands/commands.h"

namespace lull::tools {

/// The page of --html; null where none is asked for. @throws CannotCreate
[[nodiscard]] std::unique_ptr<io::TextFile> open_page(const CompareOptions& options);

/// Two stacks, which were opened and not read yet. @throws as compare()
void compare_volumes(const CompareOptions& options, io::MediaSource& first,
                     io::MediaSource& second);

}  // namespace lull::tools
