#pragma once
// Lists of words for messages, and suggestions for misspelt words.

#include <string>
#include <string_view>
#include <vector>

namespace lull::tools {

/// Returns the words, separated by `separator`.
[[nodiscard]] std::string joined(const std::vector<std::string>& words,
                                 std::string_view separator = ", ");

/// Returns the candidate that is most similar to `word`: it begins with `word`, or has a small edit
/// distance to `word`. Returns an empty string if no candidate is similar. The comparison ignores
/// leading dashes.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       const std::vector<std::string>& candidates);

/// Returns a suggestion such as "did you mean --sigma?", or `otherwise` if no candidate is similar.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& candidates,
                                       const std::string& otherwise);

}  // namespace lull::tools
