#pragma once
// Patterns for file names of a picture sequence: a number ("in.%04d.png", "in.####.tif") or
// wildcards ("shot_*.tif").

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lull::io {

/// A file name pattern with one number in the last part of the path.
struct NumberPattern {
  std::string before, after;  // text around the number; `before` includes the folder
  int digits = 1;             // minimum number of digits, padded with zeros

  /// Returns the file name for `number`, which must not be negative.
  std::string name(std::int64_t number) const;
};

/// Parses a number pattern: %d, %4d, %04d, or one '#' per digit. %% is a percent sign. Returns
/// nullopt if `path` contains no number pattern.
/// @throws InvalidArgument  `path` contains several number patterns
std::optional<NumberPattern> number_pattern(const std::string& path);

/// Returns the number in the file name `name` (without folder); nullopt if `name` does not match
/// the pattern.
std::optional<std::int64_t> number_in(const std::string& name, const NumberPattern& pattern);

/// A file name pattern with one '*' in its last part.
struct StarPattern {
  std::string before, after;
  std::string name(const std::string& match) const { return before + match + after; }
};
std::optional<StarPattern> star_pattern(const std::string& path);

/// Returns whether the last part of `path` contains one of the characters * ? [.
bool is_glob(const std::string& path);

struct SequenceFile {
  std::string path;
  std::int64_t number = 0;  // number in the name; for wildcards, index from 0
  std::string match;        // text that '*' matches, if it is the only wildcard
  bool selected = true;     // false: context of selected files (SourceOptions::margins)
};

/// Returns the files of a pattern, sorted by number or by name. Runs of digits in names count as
/// numbers, so shot_9 precedes shot_10.
/// @throws NoInput  no file matches, or lull cannot read the folder
std::vector<SequenceFile> find_sequence(const std::string& path);

/// Returns the existing files of a number pattern; empty if the folder does not exist.
std::vector<SequenceFile> existing_numbers(const std::string& path);

/// Returns whether `path` is a pattern and no file has the name `path`.
bool is_sequence(const std::string& path);

/// Returns the missing numbers between the first and the last file, such as "5, 9-10"; empty if
/// there are none.
std::string missing_numbers(const std::vector<SequenceFile>& files);

}  // namespace lull::io
