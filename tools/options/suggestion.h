#pragma once
// Lists of words in messages, and suggestions for misspelt words.

#include <string>
#include <string_view>
#include <vector>

namespace lull::tools {

/// Returns the words with `separator` between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& words,
                                 std::string_view separator = ", ");

/// Returns the candidate that is nearest to `word`, counting wrong, missing, additional and swapped
/// letters, or that begins with `word`; empty if none is near. Leading dashes are ignored.
[[nodiscard]] std::string nearest_word(std::string_view word,
                                       const std::vector<std::string>& candidates);

/// Returns for example "did you mean --sigma?", or `otherwise` if no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       const std::vector<std::string>& candidates,
                                       const std::string& otherwise);

}  // namespace lull::tools
