#pragma once
// Stores the samples of a series, slice by slice.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/frame.h"
#include "io/media.h"
#include "series/samples/samples.h"

namespace lull::tools {

class SeriesStore {
 public:
  /// Allocates memory for a series of `volumes` volumes. If the series exceeds `max_memory` bytes
  /// (0: no limit), the function uses a temporary file in `folder` as memory
  /// (io/files/scratch_memory.h).
  /// @throws OutOfMemory, IoError
  SeriesStore(const io::MediaSource& source, int volumes, std::int64_t max_memory,
              const std::string& folder);

  /// Stores the samples of a slice. Frame::pts is the index of the slice in the series.
  void add(const Frame& slice);

  /// Returns a new store for `volumes` volumes. The new store has the volume size and the memory
  /// limit of this store.
  /// @throws OutOfMemory, IoError
  [[nodiscard]] SeriesStore with_volumes(int volumes) const;

  const series::Samples& samples() const { return samples_; }
  const std::shared_ptr<std::byte[]>& memory() const { return memory_; }

 private:
  SeriesStore() = default;
  void allocate();

  std::int64_t max_memory_ = 0;
  std::string folder_;
  series::Samples samples_;
  std::shared_ptr<std::byte[]> memory_;
};

}  // namespace lull::tools
