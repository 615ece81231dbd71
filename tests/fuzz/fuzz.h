#pragma once
// Shared parts of the fuzz targets.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/error.h"
#include "io/media.h"

// The entry point for libFuzzer and for replay.cpp.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace lull::fuzz {

/// Bytes as a file in memory that has a name; the file is deleted with the object.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("fuzz", 0)) {
    if (descriptor_ < 0 || ::write(descriptor_, data, size) != static_cast<ssize_t>(size))
      throw std::runtime_error("no file in memory");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  /// Returns the open file at its beginning, to be read like a pipe.
  int rewound() const {
    ::lseek(descriptor_, 0, SEEK_SET);
    return descriptor_;
  }

 private:
  int descriptor_;
};

/// Returns a name under which an output can be started. The output never gets this name, because
/// that would wait for the disk.
inline std::string output_name(const std::string& ending) {
  const std::string folder = std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
  return folder + "/lull-fuzz-" + std::to_string(getpid()) + ending;
}

/// Returns a sink for standard output in the container `format`, whose data is discarded.
inline std::unique_ptr<io::MediaSink> open_pipe_sink(io::MediaSource& source,
                                                     const std::string& format) {
  static const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  return io::open_sink("-", source, {.format = format, .descriptor = nowhere});
}

/// Runs `work`, which may throw an Error with a one-line message. Every other exception ends the
/// process.
template <class Work>
void expect_errors(Work&& work) {
  try {
    work();
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) throw;
  }
}

/// Reads up to `most` frames and writes them with small changes.
template <class OpenSource, class OpenSink>
void copy_some(OpenSource&& open_source, OpenSink&& open_sink, int most) {
  expect_errors([&] {
    const std::unique_ptr<io::MediaSource> source = open_source();
    const std::unique_ptr<io::MediaSink> sink = open_sink(*source);
    for (int n = 0; n < most; ++n) {
      auto frame = source->read();
      if (!frame) break;
      if (frame->format.sample == SampleType::f32) frame->plane<float>(0)(0, 0) += 0.25f;
      sink->write(*std::move(frame));
    }
  });
}

}  // namespace lull::fuzz
