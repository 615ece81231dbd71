#include "tools/support/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "cuda/device_list.h"

namespace lull::tools {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::system_error(errno, std::generic_category(), what);
}

// Reads everything that is available; closes the descriptor at the end of the stream.
void drain(int& descriptor, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t size = read(descriptor, buffer.data(), buffer.size());
  if (size > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  } else if (size == 0 || errno != EINTR) {  // a terminal ends with EIO
    close(descriptor);
    descriptor = -1;
  }
}

/// Progress lines depend on the clock and are more numerous on a busy machine. They are disabled
/// unless a test requests them, so that lines can be counted and compared.
std::vector<std::string> without_progress(std::vector<std::string> arguments) {
  const auto asks = [](const std::string& argument) { return argument.starts_with("--progress"); };
  if (!arguments.empty() && arguments[0] == "denoise" && std::ranges::none_of(arguments, asks))
    arguments.insert(arguments.begin() + 1, {"--progress", "none"});
  return arguments;
}

[[noreturn]] void become_lull(const std::vector<std::string>& arguments,
                              const ProcessSetup& around) {
  if (around.file_size_limit > 0) {
    const auto bytes = static_cast<rlim_t>(around.file_size_limit);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (!around.folder.empty() && chdir(around.folder.c_str()) != 0) _exit(126);
  std::vector<char*> argv{const_cast<char*>("lull")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(LULL_PROGRAM, argv.data());
  _exit(127);
}

}  // namespace

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lull-test-XXXXXX").string();
  require(mkdtemp(pattern.data()) != nullptr, "mkdtemp");
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

int Outcome::error_lines() const {
  return static_cast<int>(std::count(err.begin(), err.end(), '\n'));
}

Program::Program(const std::vector<std::string>& arguments, const ProcessSetup& around) {
  int out[2], err[2];
  require(pipe2(out, O_CLOEXEC) == 0, "pipe");
  winsize size{};
  size.ws_col = static_cast<unsigned short>(around.columns);
  if (around.terminal)
    require(openpty(&err[0], &err[1], nullptr, nullptr, &size) == 0, "openpty");
  else
    require(pipe2(err, O_CLOEXEC) == 0, "pipe");
  pid_ = fork();
  require(pid_ >= 0, "fork");
  if (pid_ == 0) {
    const int in = open("/dev/null", O_RDONLY);
    const int to = around.out_file.empty() ? out[1] : open(around.out_file.c_str(), O_WRONLY);
    if (in < 0 || to < 0 || dup2(in, 0) < 0 || dup2(to, 1) < 0 || dup2(err[1], 2) < 0) _exit(126);
    become_lull(around.terminal ? arguments : without_progress(arguments), around);
  }
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

Program::~Program() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
}

void Program::send(int signal) const { kill(pid_, signal); }

bool Program::running() {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

std::chrono::milliseconds Program::cpu_time() const {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0)
    return std::chrono::milliseconds(0);
  return std::chrono::milliseconds(time.tv_sec * 1000 + time.tv_nsec / 1000000);
}

Outcome Program::wait(std::chrono::seconds limit) {
  Outcome outcome;
  const auto end = std::chrono::steady_clock::now() + limit;
  while (out_ >= 0 || err_ >= 0) {
    pollfd sources[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || poll(sources, 2, static_cast<int>(left.count())) == 0) {
      kill(pid_, SIGKILL);
      break;
    }
    if (sources[0].revents != 0) drain(out_, outcome.out);
    if (sources[1].revents != 0) drain(err_, outcome.err);
  }
  int status = 0;
  require(waitpid(pid_, &status, 0) == pid_, "waitpid");
  pid_ = -1;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::string killed_in_job(const std::vector<std::string>& arguments, const std::string& output) {
  Program program(arguments);
  const auto manifest = [&] {
    std::ifstream file(output + ".lull-job/manifest");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  while (program.running() && manifest().find("\nsegment ") == std::string::npos) continue;
  program.send(SIGKILL);
  EXPECT_EQ(program.wait().code, 128 + SIGKILL) << "the job ended before it was killed";
  return manifest();
}

std::string missing_device(const std::string& device) {
  if (device.rfind("cuda", 0) != 0) return {};
  static const cuda::DeviceList list = cuda::list_devices();
  const std::size_t needed = device == "cuda:0,1" ? 2 : 1;
  if (list.devices.size() >= needed) return {};
  return list.devices.empty() ? "no GPU: " + list.reason
                              : std::to_string(list.devices.size()) + " GPU visible";
}

std::string python() {
  const char* chosen = std::getenv("LULL_PYTHON");
  return chosen ? chosen : "python3";
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace lull::tools
