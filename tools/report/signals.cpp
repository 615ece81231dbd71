#include "tools/report/signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "pipeline/thread_name.h"

namespace lull::tools {
namespace {

std::mutex chain_mutex;
SignalWatch* innermost = nullptr;  // protected by chain_mutex

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN)
    sigaddset(&set, SIGHUP);  // the process ignores SIGHUP if nohup started it
  return set;
}

}  // namespace

SignalWatch::SignalWatch(std::function<void(int)> clean_up, std::chrono::milliseconds patience)
    : clean_up_(std::move(clean_up)), patience_(patience) {
  if (join_outer()) return;
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  end_ = eventfd(0, EFD_CLOEXEC);
  if (signals_ < 0 || end_ < 0)
    throw InternalError("signals cannot be watched (too many files are open); close some");
  innermost = this;  // no other thread reads this pointer before this point
  thread_ = std::thread([this] { watch(); });
}

bool SignalWatch::join_outer() {
  const std::lock_guard lock(chain_mutex);
  outer_ = innermost;
  if (!outer_) return false;
  innermost = this;
  signal_ = outer_->signal();
  if (signal_ != 0) stop_.request_stop();
  return true;
}

// After the destructor, the signals remain blocked, because the process has no more work to stop.
SignalWatch::~SignalWatch() {
  {
    const std::lock_guard lock(chain_mutex);
    innermost = outer_;
  }
  if (outer_) return;
  const std::uint64_t one = 1;
  while (write(end_, &one, sizeof one) < 0 && errno == EINTR) continue;
  thread_.join();
  close(signals_);
  close(end_);
}

void SignalWatch::watch() {
  pipeline::name_this_thread("lull-signals");
  for (;;) {
    pollfd sources[] = {{end_, POLLIN, 0}, {signals_, POLLIN, 0}};
    const int ready = poll(sources, 2, signal_ == 0 ? -1 : static_cast<int>(patience_.count()));
    if (ready < 0) continue;
    if (sources[0].revents != 0) return;
    if (signal_ != 0) {  // a second signal has arrived, or the deadline has passed
      end_process();
    }
    signalfd_siginfo info{};
    if (read(signals_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) continue;
    stop_all(static_cast<int>(info.ssi_signo));
  }
}

void SignalWatch::stop_all(int signal) {
  const std::lock_guard lock(chain_mutex);
  for (SignalWatch* watch = innermost; watch; watch = watch->outer_) {
    watch->signal_ = signal;
    watch->stop_.request_stop();
  }
}

void SignalWatch::end_process() {
  const std::lock_guard lock(chain_mutex);
  if (innermost) innermost->clean_up_(signal_);
  _exit(128 + signal_);
}

}  // namespace lull::tools
