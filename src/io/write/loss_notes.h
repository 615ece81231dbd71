#pragma once
// Lists the losses of a sink: content and metadata of the input that the output cannot store.

#include <string>
#include <vector>

#include "io/encode/encoder.h"

namespace lull::io {

class LossList {
 public:
  /// @param strict  value of the option --strict-metadata
  explicit LossList(bool strict) : strict_(strict) {}

  /// The functions add() ignore strings that are empty or already in the list.
  void add(const std::string& text);
  void add(const std::vector<std::string>& texts);
  /// Adds notes about the losses of a frame: metadata that the encoder cannot store, and time
  /// stamps that the encoder has changed to obtain a constant frame rate.
  void add_of_frame(const Frame& frame, const Encoder& encoder, const Container& container);
  /// Throws an error if `strict` is true and the list is not empty.
  /// @throws InvalidArgument
  void check() const;
  const std::vector<std::string>& list() const { return list_; }

 private:
  bool strict_;
  std::vector<std::string> list_;
};

/// Throws an error with the first string of `losses`. Does nothing if `losses` is empty.
/// @throws InvalidArgument
void refuse_losses(const std::vector<std::string>& losses);

}  // namespace lull::io
