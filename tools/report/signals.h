#pragma once
// Clean shutdown on SIGINT, SIGTERM and SIGHUP.

#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace lull::tools {

/// While this object exists, the first of these signals requests a stop through token(). A second
/// signal, or the end of `patience` while the object still exists, calls `clean_up` with the signal
/// number n and ends the process at once with 128 + n. The object must be created before any other
/// thread, so that other threads inherit its signal mask.
///
/// A command of several runs has one object for the command and another one for each run. A signal
/// stops both; the outer object sets the deadline, and the inner one cleans up.
class SignalWatch {
 public:
  /// `patience` is the time that the stages get to finish their current calls. By default the
  /// process ends within two seconds.
  explicit SignalWatch(std::function<void(int)> clean_up,
                       std::chrono::milliseconds patience = std::chrono::milliseconds(1500));
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// Returns the signal that requested the stop, or 0.
  int signal() const { return signal_; }

 private:
  /// Adds this object to an existing outer one. Returns false if there is none.
  bool join_outer();
  void watch();
  /// Requests a stop through this object and all inner ones.
  void stop_all(int signal);
  void end_process();

  std::function<void(int)> clean_up_;
  std::chrono::milliseconds patience_;
  std::stop_source stop_;
  std::atomic<int> signal_ = 0;
  SignalWatch* outer_ = nullptr;  // null: this one reads the signals
  int signals_ = -1, end_ = -1;   // file descriptors
  std::thread thread_;
};

}  // namespace lull::tools
