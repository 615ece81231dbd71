#pragma once
// What holds for every page that lull writes.

#include <string>

namespace lull::tools {

/// No address but data:, no handler or style in an attribute, one script, one style, and a policy
/// that forbids all else; tags that are opened are closed.
/// @returns what it tells, without the bytes of pictures, style and script
std::string expect_self_contained(const std::string& html);

}  // namespace lull::tools
