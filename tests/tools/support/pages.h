#pragma once
// Checks rules for every page that lull writes.

#include <string>

namespace lull::tools {

/// Expects no address except data:, no handler or style in an attribute, one script, one style, and
/// a policy that forbids everything else; every opened tag must be closed. @returns the text of the
/// page without the bytes of pictures, style and script
std::string expect_self_contained(const std::string& html);

}  // namespace lull::tools
