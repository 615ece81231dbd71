#pragma once
// lull compare for stacks of slices, in the values of their files.

#include "io/media.h"
#include "tools/commands/commands.h"

namespace lull::tools {

/// Two stacks, which were opened and not read yet. @throws as compare()
void compare_volumes(const CompareOptions& options, io::MediaSource& first,
                     io::MediaSource& second);

}  // namespace lull::tools
