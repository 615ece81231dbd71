#pragma once
// Names of pictures that belong together: numbered ("in.%04d.png", "in.####.tif") or matched
// ("shot_*.tif").

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lull::io {

/// A name with one number in it. Folders are plain names: the last part alone is a pattern.
struct NumberPattern {
  std::string before, after;  // what stands around the number; `before` with the folder
  int digits = 1;             // at least, filled up with zeros

  /// `number` from 0.
  std::string name(std::int64_t number) const;
};

/// %d, %4d, %04d or a run of '#', one digit each; %% is a per cent sign. nullopt: no number in it.
/// @throws InvalidArgument  several numbers
std::optional<NumberPattern> number_pattern(const std::string& path);

/// The number in a name, which is without its folder; nullopt if the pattern does not make it.
std::optional<std::int64_t> number_in(const std::string& name, const NumberPattern& pattern);

/// A name with one '*' in its last part.
struct StarPattern {
  std::string before, after;
  std::string name(const std::string& match) const { return before + match + after; }
};
std::optional<StarPattern> star_pattern(const std::string& path);

/// Whether the last part of `path` has any of * ? [.
bool is_glob(const std::string& path);

struct SequenceFile {
  std::string path;
  std::int64_t number = 0;  // in its name; of a glob's matches: their count from 0
  std::string match;        // what the '*' stands for, if the glob has one and nothing else
  bool selected = true;     // false: context of selected ones (SourceOptions::margins)
};

/// The files that a pattern names: by number, those of a glob by name, where digits count as
/// numbers (shot_9 before shot_10). @throws NoInput  there is none, or the folder cannot be read
std::vector<SequenceFile> find_sequence(const std::string& path);

/// The files that a name with a number has already; none where there is not a folder.
std::vector<SequenceFile> existing_numbers(const std::string& path);

/// Whether `path` names several pictures: it is a pattern, and no file has this very name.
bool is_sequence(const std::string& path);

/// "5, 9-10": the numbers that are missing between the first and the last, empty if none is.
std::string missing_numbers(const std::vector<SequenceFile>& files);

}  // namespace lull::io
