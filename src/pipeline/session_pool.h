#pragma once
// A pool of threads that run one session each, with failover between devices. The denoiser that
// owns the pool distributes the work.

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

class SessionPool {
 public:
  struct Callbacks {
    /// Filters frames with `session`, in the thread of this session, until wait_for_work() returns
    /// false.
    std::function<void(int me, Denoiser& session)> serve;
    /// Distributes the work of the failed session `me` to the other sessions. The pool holds its
    /// mutex during the call.
    std::function<void(int me)> redistribute;
  };

  /// Takes ownership of the sessions. start() starts their threads.
  /// @throws InvalidArgument  there is no session
  SessionPool(std::vector<std::unique_ptr<Denoiser>> sessions, ShardOptions options);
  ~SessionPool() { stop(); }
  SessionPool(const SessionPool&) = delete;
  SessionPool& operator=(const SessionPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()); }
  /// Returns session `i`. The caller must not call session() after start().
  const Denoiser& session(int i) const { return *workers_[i].session; }
  void start(Callbacks duties);
  /// Ends the threads and the sessions.
  void stop();

  /// Locks the mutex of the data that the threads share.
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  void notify_work() { work_changed_.notify_all(); }
  void notify_progress() { progress_.notify_all(); }
  bool lost(int i) const { return workers_[i].lost; }
  /// Declares that frames are in GPU memory. From then on, a failure of one session ends the job,
  /// because other sessions cannot read the memory of the failed GPU.
  void stay_on_device() { on_device_ = true; }

  /// Blocks a session thread until there is work. Returns false if the pool stops.
  template <class Condition>
  bool wait_for_work(std::unique_lock<std::mutex>& lock, Condition&& has_work) {
    work_changed_.wait(lock, [&] { return stopping_ || has_work(); });
    return !stopping_;
  }
  /// Blocks the thread that uses the denoiser until done() returns true.
  /// @throws the exception that has ended the job
  template <class Condition>
  void wait_for_progress(std::unique_lock<std::mutex>& lock, Condition&& done) {
    progress_.wait(lock, [&] { return failure_ || done(); });
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Reports the failed sessions. A session thread calls this function after it has returned a
  /// result. The thread must not hold the lock of the pool.
  void report_failures();

 private:
  struct Worker {
    std::unique_ptr<Denoiser> session;  // only its own thread uses it
    bool lost = false;
    std::jthread thread;  // the last member, so that it is joined before `session` is destroyed
  };
  struct SessionFailure {
    std::size_t index;
    DeviceFailure why;
    std::size_t left;
  };

  void work(int me) noexcept;
  bool serve(int me);
  bool replace_after(const DeviceFailure& why, int me);

  const ShardOptions options_;
  Callbacks callbacks_;
  std::mutex mutex_;                      // protects the following members
  std::condition_variable work_changed_;  // workers wait for this condition
  std::condition_variable progress_;      // push() and drain() wait for this condition
  bool stopping_ = false;
  bool on_device_ = false;
  std::vector<SessionFailure> failures_;  // failures that have not been reported yet
  std::optional<DeviceFailure> first_failure_;
  std::exception_ptr failure_;
  std::vector<Worker> workers_;
};

}  // namespace lull::pipeline
