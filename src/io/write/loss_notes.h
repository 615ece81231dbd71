#pragma once
// The list of losses of a sink. Losses are content and metadata of the input that the output cannot
// store.

#include <string>
#include <vector>

#include "io/encode/encoder.h"

namespace lull::io {

class LossList {
 public:
  /// @param strict  value of the option --strict-metadata
  explicit LossList(bool strict) : strict_(strict) {}

  /// The following functions add texts that are not in the list yet. They ignore empty texts.
  void add(const std::string& text);
  void add(const std::vector<std::string>& texts);
  /// Adds the metadata of a frame that the encoder loses. If the encoder has changed the time
  /// stamps of frames to a constant frame rate, the function adds a text about the change.
  void add_of_frame(const Frame& frame, const Encoder& encoder, const Container& container);
  /// Throws an error if the list is not empty and `strict` is true.
  /// @throws InvalidArgument
  void check() const;
  const std::vector<std::string>& list() const { return list_; }

 private:
  bool strict_;
  std::vector<std::string> list_;
};

/// Throws an error about the first loss in `losses`. The function does nothing if `losses` is
/// empty.
/// @throws InvalidArgument
void refuse_losses(const std::vector<std::string>& losses);

}  // namespace lull::io
