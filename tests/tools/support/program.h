#pragma once
// Runs the command itself, like a user.

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace lull::tools {

/// A new folder that is deleted with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// Returns the sorted names of the files in the folder, including hidden ones.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int code = -1;  // 128 + n if signal n killed the process
  std::string out, err;
  int error_lines() const;
};

struct ProcessSetup {
  long file_size_limit = 0;  // maximum size of a file in bytes; 0: no limit
  bool terminal = false;     // stderr is a terminal
  int columns = 0;           // of the terminal; 0: unknown
  std::string out_file;      // destination of stdout instead of Outcome::out
  std::string folder;        // working folder; empty: that of the test
};

/// A running command. Its stdin is empty.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments, const ProcessSetup& around = {});
  ~Program();  // kills the process
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal) const;
  bool running();
  /// Returns the CPU time that the process has used so far; 0 after its end.
  std::chrono::milliseconds cpu_time() const;
  /// Kills the process after `limit`, which gives the code 137.
  Outcome wait(std::chrono::seconds limit = std::chrono::seconds(120));

 private:
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;  // the ends of the test
};

inline Outcome run_lull(const std::vector<std::string>& arguments,
                        const ProcessSetup& around = {}) {
  return Program(arguments, around).wait();
}

/// Runs a segmented job that writes `output` and kills it as soon as its manifest names a segment.
/// Expects that the job has not ended before. Returns the manifest.
std::string killed_in_job(const std::vector<std::string>& arguments, const std::string& output);

/// Returns the reason why `device` cannot be tested here; empty if it can be tested.
std::string missing_device(const std::string& device);

/// Returns the command of a Python that has the modules of the tests. The variable LULL_PYTHON,
/// which `run` sets, names it.
std::string python();

/// Returns the bytes of a file.
/// @throws std::runtime_error
std::string bytes_of(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);

}  // namespace lull::tools
