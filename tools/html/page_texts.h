#pragma once
// The style and the script of a page, to the letter: their digests stand in its
// Content-Security-Policy.

#include <string_view>

namespace lull::tools {

extern const std::string_view page_style, page_script;

}  // namespace lull::tools
