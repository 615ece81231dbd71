#pragma once
// Defines the queue between two threads of the pipeline. The queue blocks the producer while the
// queue is full.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace lull::pipeline {

/// A first-in-first-out queue of at most `capacity` items, for any number of producers and
/// consumers.
template <class T>
class BoundedQueue {
 public:
  /// `capacity` is the maximum number of items, at least 1.
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity < 1 ? 1 : capacity) {}
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  /// Adds an item. Waits while the queue is full. If the queue is closed or cancelled, the function
  /// discards the item and returns false. The producer should then stop.
  [[nodiscard]] bool push(T item) {
    std::unique_lock lock(mutex_);
    has_space_.wait(lock, [&] { return items_.size() < capacity_ || state_ != State::open; });
    if (state_ != State::open) return false;
    items_.push_back(std::move(item));
    lock.unlock();
    has_item_.notify_one();
    return true;
  }

  /// Removes an item. Waits while the queue is empty. Returns nullopt if the queue is cancelled, or
  /// if the queue is closed and empty.
  [[nodiscard]] std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    has_item_.wait(lock, [&] { return !items_.empty() || state_ != State::open; });
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    lock.unlock();
    has_space_.notify_one();
    return item;
  }

  /// Closes the queue. The producer calls close() after its last item. Consumers still receive all
  /// items in the queue.
  void close() { leave_open(State::closed); }

  /// Discards the items in the queue and wakes all waiting threads. A producer or a consumer may
  /// call cancel() to stop all users of the queue.
  void cancel() { leave_open(State::cancelled); }

  /// Returns whether cancel() has ended the queue.
  [[nodiscard]] bool cancelled() const {
    const std::lock_guard lock(mutex_);
    return state_ == State::cancelled;
  }

 private:
  enum class State { open, closed, cancelled };

  void leave_open(State state) {
    std::deque<T> dropped;  // destroyed without the lock, because destructors run other code
    {
      const std::lock_guard lock(mutex_);
      if (state_ != State::cancelled) state_ = state;  // a cancelled queue stays cancelled
      if (state_ == State::cancelled) dropped.swap(items_);
    }
    has_space_.notify_all();
    has_item_.notify_all();
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable has_space_, has_item_;
  std::deque<T> items_;
  State state_ = State::open;
};

}  // namespace lull::pipeline
