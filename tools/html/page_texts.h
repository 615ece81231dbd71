#pragma once
// The style and the script of a page. A page must not change these texts, because its
// Content-Security-Policy contains their digests.

#include <string_view>

namespace lull::tools {

extern const std::string_view page_style, page_script;

}  // namespace lull::tools
