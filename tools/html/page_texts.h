#pragma once
// The style and the script of a page. Pages must contain these texts unchanged, because the
// Content-Security-Policy contains their digests.

#include <string_view>

namespace lull::tools {

extern const std::string_view page_style, page_script;

}  // namespace lull::tools
