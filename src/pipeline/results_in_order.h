#pragma once
// Results that come in any order, and are given back in the order of their frames.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "core/frame.h"

namespace lull::pipeline {

class ResultsInOrder {
 public:
  /// The number of the frame that comes in now, from 0.
  std::int64_t count_in() { return in_++; }
  std::int64_t in() const { return in_; }
  /// The number of the frame whose result is given back next.
  std::int64_t next() const { return out_; }
  std::int64_t in_flight() const { return in_ - out_; }

  void add(std::int64_t number, Frame result) { results_.emplace(number, std::move(result)); }
  /// Whether this result came, be it still here or not.
  bool had(std::int64_t number) const { return number < out_ || results_.contains(number); }
  bool has_next() const { return results_.contains(out_); }
  /// The next one, if it is here.
  std::optional<Frame> take() {
    const auto next = results_.find(out_);
    if (next == results_.end()) return std::nullopt;
    Frame frame = std::move(next->second);
    results_.erase(next);
    ++out_;
    return frame;
  }

 private:
  std::map<std::int64_t, Frame> results_;  // that were not given back yet
  std::int64_t in_ = 0, out_ = 0;
};

}  // namespace lull::pipeline
