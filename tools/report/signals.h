#pragma once
// Stops the program on SIGINT, SIGTERM and SIGHUP without leaving temporary files.

#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace lull::tools {

/// Watches SIGINT, SIGTERM and SIGHUP. After the first signal n, the object requests a stop through
/// token(). If a second signal arrives or the time `patience` passes, the object calls `clean_up`
/// and ends the process with 128 + n. The object must exist before other threads start.
class SignalWatch {
 public:
  /// @param patience  time for the pipeline stages to finish their current calls; the default ends
  ///     the process within two seconds
  explicit SignalWatch(std::function<void(int)> clean_up,
                       std::chrono::milliseconds patience = std::chrono::milliseconds(1500));
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// Returns the number of the signal that requested the stop, or 0.
  int signal() const { return signal_; }

 private:
  /// Links this object to an existing SignalWatch, which then receives the signals for both
  /// objects. Returns false if there is no other SignalWatch.
  bool join_outer();
  void watch();
  /// Requests a stop through all existing objects of the class SignalWatch.
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
