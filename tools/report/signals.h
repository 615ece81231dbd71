#pragma once
// Stops the program cleanly on SIGINT, SIGTERM and SIGHUP.

#include <atomic>
#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace lull::tools {

/// Watches the signals SIGINT, SIGTERM and SIGHUP while the object exists. The first signal
/// requests a stop through token(). If a second signal arrives, or if the object still exists when
/// the time `patience` has passed after the first signal, the object calls `clean_up` with the
/// number n of the first signal, and ends the process with exit code 128 + n. The caller must
/// create the object before it starts any other thread, so that other threads inherit the signal
/// mask.
///
/// A command that performs several runs has one object for the command (the outer object) and
/// another object for each run (the inner object). A signal requests a stop through both objects.
/// The outer object sets the deadline, and the inner object cleans up.
class SignalWatch {
 public:
  /// @param patience  the time for the pipeline stages to finish their current calls; by default
  ///     the process ends within two seconds
  explicit SignalWatch(std::function<void(int)> clean_up,
                       std::chrono::milliseconds patience = std::chrono::milliseconds(1500));
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// Returns the number of the signal that requested the stop, or 0.
  int signal() const { return signal_; }

 private:
  /// Links this object to the SignalWatch that was created before this object and still exists.
  /// That SignalWatch receives the signals for both objects. Returns false if there is no such
  /// object.
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
