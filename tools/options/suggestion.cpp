#include "tools/options/suggestion.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace lull::tools {
namespace {

constexpr std::size_t max_word_length = 64;  // longer words get no suggestion

std::string normalise(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string text(word);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// Returns the edit distance of two words, with insertion, deletion, replacement, and swap of
/// neighbouring letters.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before, last, now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) now[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, now);
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + other});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
  }
  return now[b.size()];
}

/// Returns the edit distance between a word and a candidate, or no value if the distance is too
/// large for a typing error.
std::optional<std::size_t> typing_distance(const std::string& word, const std::string& candidate) {
  if (word.size() >= 3 && candidate.starts_with(word)) return 1;
  const std::size_t letters = distance(word, candidate);
  const std::size_t max_distance = word.size() < 3   ? 0
                                   : word.size() < 5 ? 1
                                   : word.size() < 9 ? 2
                                                     : 3;
  if (letters > max_distance) return std::nullopt;
  return letters;
}

}  // namespace

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) (text += text.empty() ? "" : separator) += word;
  return text;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string normalised = normalise(word);
  if (normalised.empty() || normalised.size() > max_word_length) return {};
  std::string nearest;
  std::size_t min_distance = max_word_length;
  for (const std::string& candidate : candidates) {
    const auto distance_to_candidate = typing_distance(normalised, normalise(candidate));
    if (!distance_to_candidate) continue;
    // Among candidates with equal distance, the suggestion is the shortest candidate.
    if (*distance_to_candidate < min_distance ||
        (*distance_to_candidate == min_distance && candidate.size() < nearest.size())) {
      min_distance = *distance_to_candidate;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates,
                         const std::string& otherwise) {
  const std::string nearest = nearest_word(word, candidates);
  return nearest.empty() ? otherwise : "did you mean " + nearest + "?";
}

}  // namespace lull::tools
