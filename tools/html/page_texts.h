#pragma once
// Defines the style and the script of a page. The Content-Security-Policy of the page contains the
// digests of these texts, so the page must contain the texts unchanged.

#include <string_view>

namespace lull::tools {

extern const std::string_view page_style, page_script;

}  // namespace lull::tools
