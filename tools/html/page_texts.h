#pragma once
// Style and script of a page. The page contains both byte for byte, because the
// Content-Security-Policy contains their digests.

#include <string_view>

namespace lull::tools {

extern const std::string_view page_style, page_script;

}  // namespace lull::tools
