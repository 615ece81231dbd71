#pragma once
// Threads that drive a session each, and what becomes of their work when devices fail. Who gets
// which work is the business of the denoiser that has the crew.

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/denoiser.h"
#include "pipeline/sharded_denoiser.h"

namespace lull::pipeline {

class SessionCrew {
 public:
  struct Duties {
    /// Drives a session, in its thread, until wait_for_work() says that the crew stops.
    std::function<void(int me, Denoiser& session)> serve;
    /// Session `me` is lost: its work is for the others. Called with the lock.
    std::function<void(int me)> deal_again;
  };

  /// @throws InvalidArgument  there is no session
  SessionCrew(std::vector<std::unique_ptr<Denoiser>> sessions, ShardOptions options);
  ~SessionCrew() { stop(); }
  SessionCrew(const SessionCrew&) = delete;
  SessionCrew& operator=(const SessionCrew&) = delete;

  int size() const { return static_cast<int>(workers_.size()); }
  /// Before start() only.
  const Denoiser& session(int i) const { return *workers_[i].session; }
  void start(Duties duties);
  /// Ends the threads, and the sessions.
  void stop();

  /// Over all that the threads share, and over the functions below.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  void notify_work() { work_changed_.notify_all(); }
  void notify_progress() { progress_.notify_all(); }
  bool lost(int i) const { return workers_[i].lost; }
  /// From now on a lost session ends the job: frames are in the memory of a GPU.
  void stay_on_device() { on_device_ = true; }

  /// In a session's thread: whether there is work; if not, the crew stops.
  template <class Condition>
  bool wait_for_work(std::unique_lock<std::mutex>& lock, Condition&& there_is) {
    work_changed_.wait(lock, [&] { return stopping_ || there_is(); });
    return !stopping_;
  }
  /// In the thread of who uses the denoiser.
  /// @throws whatever ended the job
  template <class Condition>
  void wait_for_progress(std::unique_lock<std::mutex>& lock, Condition&& done) {
    progress_.wait(lock, [&] { return failure_ || done(); });
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Without the lock, when a session has given a result.
  void tell_losses();

 private:
  struct Worker {
    std::unique_ptr<Denoiser> session;  // its thread's own
    bool lost = false;
    std::jthread thread;  // last: joined before the session goes
  };
  struct Loss {
    std::size_t index;
    DeviceFailure why;
    std::size_t left;
  };

  void work(int me) noexcept;
  bool serve(int me);
  bool replace_after(const DeviceFailure& why, int me);

  const ShardOptions options_;
  Duties duties_;
  std::mutex mutex_;                      // over everything below
  std::condition_variable work_changed_;  // workers wait for it
  std::condition_variable progress_;      // push() and drain() wait for it
  bool stopping_ = false;
  bool on_device_ = false;
  std::vector<Loss> losses_;  // nobody was told of yet
  std::optional<DeviceFailure> first_loss_;
  std::exception_ptr failure_;
  std::vector<Worker> workers_;
};

}  // namespace lull::pipeline
