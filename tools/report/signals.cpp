#include "tools/report/signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "core/error.h"
#include "pipeline/thread_name.h"

namespace lull::tools {
namespace {

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);  // the process ignores SIGHUP if nohup started it
  return set;
}

}  // namespace

SignalWatch::SignalWatch(std::function<void(int)> clean_up, std::chrono::milliseconds patience)
    : clean_up_(std::move(clean_up)), patience_(patience) {
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC);
  end_ = eventfd(0, EFD_CLOEXEC);
  if (signals_ < 0 || end_ < 0)
    throw InternalError("signals cannot be watched (no file descriptor is left); close some");
  thread_ = std::thread([this] { watch(); });
}

// The signals stay blocked: a signal that arrives now has nothing left to stop.
SignalWatch::~SignalWatch() {
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
    if (signal_ != 0) {  // a second signal, or the deadline has passed
      clean_up_(signal_);
      _exit(128 + signal_);
    }
    signalfd_siginfo info{};
    if (read(signals_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) continue;
    signal_ = static_cast<int>(info.ssi_signo);
    stop_.request_stop();
  }
}

}  // namespace lull::tools
