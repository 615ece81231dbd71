#pragma once
// Formats lists of words for messages, and suggests corrections of misspelt words.

#include <string>
#include <string_view>
#include <vector>

namespace lull::tools {

/// Returns the words, separated by `separator`.
[[nodiscard]] std::string joined(const std::vector<std::string>& words,
                                 std::string_view separator = ", ");

/// Returns the candidate that begins with `word`, or the candidate with the smallest edit distance
/// from `word`. Two swapped adjacent letters count as one error. Returns an empty text if no
/// candidate is similar. The function ignores leading dashes.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       const std::vector<std::string>& candidates);

/// Returns a suggestion such as "did you mean --sigma?". Returns `otherwise` if no candidate is
/// similar.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& candidates,
                                       const std::string& otherwise);

}  // namespace lull::tools
