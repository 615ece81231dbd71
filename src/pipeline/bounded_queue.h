#pragma once
// What lies between two threads of the pipeline: a queue that makes a fast producer wait.

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace lull::pipeline {

/// First in, first out, at most `capacity` items. Safe for any number of producers and consumers.
template <class T>
class BoundedQueue {
 public:
  /// `capacity`: items, from 1.
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity < 1 ? 1 : capacity) {}
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  /// Waits while the queue is full. False: closed or cancelled, the item is lost, stop producing.
  [[nodiscard]] bool push(T item) {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [&] { return items_.size() < capacity_ || state_ != State::open; });
    if (state_ != State::open) return false;
    items_.push_back(std::move(item));
    lock.unlock();
    has_item_.notify_one();
    return true;
  }

  /// Waits while the queue is empty. nullopt: closed and drained, or cancelled.
  [[nodiscard]] std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    has_item_.wait(lock, [&] { return !items_.empty() || state_ != State::open; });
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    lock.unlock();
    has_room_.notify_one();
    return item;
  }

  /// The producer is done; the consumer still gets what is in the queue.
  void close() { leave_open(State::closed); }

  /// Either side gives up: what is in the queue is dropped and everybody wakes.
  void cancel() { leave_open(State::cancelled); }

  /// Whether it ended by cancel() rather than by close().
  [[nodiscard]] bool cancelled() const {
    const std::lock_guard lock(mutex_);
    return state_ == State::cancelled;
  }

 private:
  enum class State { open, closed, cancelled };

  void leave_open(State state) {
    std::deque<T> dropped;  // destroyed without the lock: an item may do anything
    {
      const std::lock_guard lock(mutex_);
      if (state_ != State::cancelled) state_ = state;  // a cancelled queue stays cancelled
      if (state_ == State::cancelled) dropped.swap(items_);
    }
    has_room_.notify_all();
    has_item_.notify_all();
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable has_room_, has_item_;
  std::deque<T> items_;
  State state_ = State::open;
};

}  // namespace lull::pipeline
