#pragma once
// What a misspelt word may have been meant to be.

#include <string>
#include <string_view>
#include <vector>

namespace lull::tools {

/// The one of `candidates` that is nearest to `word` by single letters that are wrong, missing, too
/// many or swapped, or that `word` begins; empty if none is near. Dashes in front do not count.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       const std::vector<std::string>& candidates);

/// "did you mean --sigma?", or `otherwise` where nothing is near.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& candidates,
                                       const std::string& otherwise);

}  // namespace lull::tools
