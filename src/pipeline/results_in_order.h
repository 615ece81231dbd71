#pragma once
// A reorder buffer: results arrive in any order and leave in the order of the input frames.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/frame.h"

namespace lull::pipeline {

class ResultsInOrder {
 public:
  /// Counts an input frame and returns its index, from 0.
  std::int64_t count_in() { return in_++; }
  std::int64_t in() const { return in_; }
  /// Returns the index of the next result.
  std::int64_t next() const { return out_; }
  std::int64_t in_flight() const { return in_ - out_; }

  void add(std::int64_t number, Frame result) { results_.emplace(number, std::move(result)); }
  /// Returns whether the result of a frame has arrived, even if the buffer has already returned
  /// this result.
  bool had(std::int64_t number) const { return number < out_ || results_.contains(number); }
  bool has_next() const { return results_.contains(out_); }
  /// Returns the next result in order, or no value if this result has not arrived.
  std::optional<Frame> take() {
    const auto next = results_.find(out_);
    if (next == results_.end()) return std::nullopt;
    Frame frame = std::move(next->second);
    results_.erase(next);
    ++out_;
    return frame;
  }

 private:
  std::map<std::int64_t, Frame> results_;  // results that were not returned yet
  std::int64_t in_ = 0, out_ = 0;
};

}  // namespace lull::pipeline
