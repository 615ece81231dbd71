#pragma once
// A list of bounded length that stores items at equal distances from a stream of unknown length.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace lull::tools {

/// A list with at most `max_size` items. A full list drops every second item and doubles the
/// distance between stored items.
template <class T>
class ThinnedList {
 public:
  explicit ThinnedList(std::size_t max_size) : max_size_(max_size) {}

  /// Returns whether the list stores the next item. If true, the caller must call add(), and
  /// otherwise skip().
  bool keeps_next() const { return count_ % step_ == 0; }
  void skip() { ++count_; }
  void add(T item) {
    ++count_;
    items_.push_back(std::move(item));
    if (items_.size() < max_size_) return;
    for (std::size_t i = 0; 2 * i < items_.size(); ++i) items_[i] = std::move(items_[2 * i]);
    items_.resize((items_.size() + 1) / 2);
    step_ *= 2;
  }

  const std::vector<T>& items() const { return items_; }
  std::int64_t count() const { return count_; }

 private:
  std::size_t max_size_;
  std::int64_t count_ = 0, step_ = 1;
  std::vector<T> items_;
};

}  // namespace lull::tools
