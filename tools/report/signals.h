#pragma once
// Clean ends on SIGINT, SIGTERM and SIGHUP.

#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace lull::tools {

/// While it lives, the first of these signals asks for a stop through token(). A second signal, or
/// `patience` without the object's end, calls `clean_up` with n and ends the process at once with
/// 128 + n. To be made before any other thread, so that these inherit its signal mask.
class SignalWatch {
 public:
  /// The stages get `patience` to end after the calls that they are in; by default the process is
  /// gone within two seconds.
  explicit SignalWatch(std::function<void(int)> clean_up,
                       std::chrono::milliseconds patience = std::chrono::milliseconds(1500));
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// The signal that asked for the stop; 0: none did.
  int signal() const { return signal_; }

 private:
  void watch();

  std::function<void(int)> clean_up_;
  std::chrono::milliseconds patience_;
  std::stop_source stop_;
  std::atomic<int> signal_ = 0;
  int signals_ = -1, end_ = -1;  // file descriptors
  std::thread thread_;
};

}  // namespace lull::tools
