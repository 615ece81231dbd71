#pragma once
// Makes frames from the memory of the program, and copies results to the memory of the program.

#include <map>
#include <memory>
#include <memory_resource>
#include <optional>

#include "c/include/lull.h"
#include "core/frame.h"
#include "core/frame_pool.h"

namespace lull::c {

/// Calls the release function of a frame when nothing uses the memory of the frame any more.
class FrameOwner {
 public:
  FrameOwner(lull_release_function release, void* user) : release_(release), user_(user) {}
  ~FrameOwner() {
    if (release_ != nullptr) release_(user_);
  }
  FrameOwner(const FrameOwner&) = delete;
  FrameOwner& operator=(const FrameOwner&) = delete;
  /// Returns whether the samples may be used after the return of the function that got the frame.
  bool keeps() const { return release_ != nullptr; }

 private:
  lull_release_function release_;
  void* user_;
};

/// Returns the number of a frame, or -1 if it has none.
/// @throws InvalidArgument
[[nodiscard]] int number_of(const lull_frame& given);

/// Converts frames of one format from and to memory of the program. One thread at a time may use an
/// object.
class ProgramMemory {
 public:
  /// `gpu`: the GPU whose memory the user of the frames can read; empty: the user can read only
  /// host memory. `host`: memory resource for copies of samples.
  ProgramMemory(const FrameFormat& format, std::optional<int> gpu,
                std::pmr::memory_resource* host = std::pmr::get_default_resource())
      : format_(format), gpu_(gpu), host_(format, host) {}

  /// Returns a frame with the samples of `given`. The frame has no other properties. It shares the
  /// memory if the owner allows it, if the rows are contiguous, aligned samples in ascending order
  /// of addresses, and if the user of the frame can read this memory. In all other cases, the
  /// function copies the samples before it returns.
  /// @throws InvalidArgument, StatusError, DeviceUnavailable
  [[nodiscard]] Frame frame_of(const lull_frame& given, const std::shared_ptr<FrameOwner>& owner);

  /// Checks the memory of a frame.
  /// @throws InvalidArgument
  void check(const lull_frame& given, const char* what) const;
  /// Copies the samples of `result`, in host memory or on a GPU, to the memory of `to`, which has
  /// passed check(). The copy is complete on return.
  /// @throws StatusError, DeviceUnavailable, DeviceFailure
  void store(const Frame& result, const lull_frame& to);

 private:
  Frame host_frame(const lull_frame& given, std::shared_ptr<void> owner, bool keeps);
  Frame cuda_frame(const lull_frame& given, std::shared_ptr<void> owner, bool keeps);
  FramePool& pool_on(int device);
  /// Returns `result` in host memory.
  Frame on_host(const Frame& result);
  void store_on_gpu(const Frame& result, const lull_frame& to);

  FrameFormat format_;
  std::optional<int> gpu_;
  FramePool host_;
  std::map<int, FramePool> pools_;  // by GPU
};

}  // namespace lull::c
