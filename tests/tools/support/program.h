#pragma once
// Runs the command itself, as a user does.

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace lull::tools {

/// A new folder that goes with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// What is in it, hidden files too, sorted.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int code = -1;  // 128 + n where signal n killed it
  std::string out, err;
  int error_lines() const;
};

struct Surroundings {
  long file_size_limit = 0;  // bytes that a file may grow to; 0: no limit
  bool terminal = false;     // stderr is one
  int columns = 0;           // of the terminal; 0: it does not say
  std::string out_file;      // where stdout goes instead of Outcome::out
  std::string folder;        // to run in; empty: the test's
};

/// The command while it runs. Stdin is empty.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments, const Surroundings& around = {});
  ~Program();  // kills it
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal) const;
  bool running();
  /// Kills it after `limit`, which shows as code 137.
  Outcome wait(std::chrono::seconds limit = std::chrono::seconds(120));

 private:
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;  // our ends
};

inline Outcome run_lull(const std::vector<std::string>& arguments,
                        const Surroundings& around = {}) {
  return Program(arguments, around).wait();
}

/// Runs a job in segments that makes `output`, and kills it as soon as its manifest names one.
/// Gives the manifest that is left.
std::string killed_in_job(const std::vector<std::string>& arguments, const std::string& output);

/// Why `device` cannot be tested here; empty if it can.
std::string missing_device(const std::string& device);

/// The command of a Python that has the modules of the tests: LULL_PYTHON, which `run` sets.
std::string python();

/// The bytes of a file. @throws std::runtime_error
std::string bytes_of(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);

}  // namespace lull::tools
