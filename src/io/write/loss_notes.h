#pragma once
// What a sink found that its output cannot carry.

#include <string>
#include <vector>

#include "io/encode/encoder.h"

namespace lull::io {

class LossList {
 public:
  /// `strict`: --strict-metadata.
  explicit LossList(bool strict) : strict_(strict) {}

  /// Each text once; an empty one is none.
  void add(const std::string& text);
  void add(const std::vector<std::string>& texts);
  /// What a frame brings that was not there before, and what became of its time.
  void add_of_frame(const Frame& frame, const Encoder& encoder, const Container& container);
  /// @throws InvalidArgument  something is lost, and nothing may be
  void check() const;
  const std::vector<std::string>& list() const { return list_; }

 private:
  bool strict_;
  std::vector<std::string> list_;
};

/// @throws InvalidArgument  naming the first; not where there is none
void refuse_losses(const std::vector<std::string>& losses);

}  // namespace lull::io
