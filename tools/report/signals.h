#pragma once
// Stops the program cleanly on SIGINT, SIGTERM and SIGHUP.

#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace lull::tools {

/// Watches the signals SIGINT, SIGTERM and SIGHUP while the object exists. The first signal, n,
/// requests a stop through token(). At a second signal, or when the time `patience` has passed
/// since the first signal, the object calls `clean_up` with n and ends the process with exit code
/// 128 + n. The object must be created before any other thread starts, so that threads inherit the
/// signal mask.
///
/// A command that performs several runs has an outer object for the command and an inner object for
/// each run. A signal requests a stop through both. The outer object sets the deadline, and the
/// inner object cleans up.
class SignalWatch {
 public:
  /// @param patience  the time for the pipeline stages to finish their current calls; by default
  /// the process ends within two seconds
  explicit SignalWatch(std::function<void(int)> clean_up,
                       std::chrono::milliseconds patience = std::chrono::milliseconds(1500));
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// Returns the number of the signal that requested the stop, or 0.
  int signal() const { return signal_; }

 private:
  /// Links this object to an existing SignalWatch, which receives the signals for both objects.
  /// Returns false if there is none.
  bool join_outer();
  void watch();
  /// Requests a stop through all objects of this class that exist.
  void stop_all(int signal);
  void end_process();

  std::function<void(int)> clean_up_;
  std::chrono::milliseconds patience_;
  std::stop_source stop_;
  std::atomic<int> signal_ = 0;
  SignalWatch* outer_ = nullptr;  // null: this object itself receives the signals
  int signals_ = -1, end_ = -1;   // file descriptors
  std::thread thread_;
};

}  // namespace lull::tools
