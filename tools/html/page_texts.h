#pragma once
// The style sheet and the script of the HTML pages. The texts are constants, because the
// Content-Security-Policy of a page contains their digests.

#include <string_view>

namespace lull::tools {

extern const std::string_view page_style, page_script;

}  // namespace lull::tools
