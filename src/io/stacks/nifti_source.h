#pragma once
// A source for the slices of a volume along one axis. All slices of a volume precede the slices of
// the next volume of the series.

#include <optional>
#include <vector>

#include "core/frame_pool.h"
#include "io/stacks/stack.h"
#include "io/volumes/gzip_stream.h"
#include "io/volumes/volume_output.h"

namespace lull::io {

/// Layout of the slices in the file, where x is the fastest axis. To get one slice, the source must
/// read one block of the file. For slices along z, a block is one slice. For slices along x or y, a
/// block is a whole volume, because the samples of each slice are spread over the volume.
struct SliceGrid {
  SliceGrid(const std::array<std::int64_t, 3>& size, Axis axis);

  Axis axis;
  int width, height;                        // size of a slice in voxels
  std::int64_t slices_of_block;             // slices in a block
  std::int64_t slices_of_volume;            // number of slices of a volume along the axis
  std::int64_t step_x, step_y, step_slice;  // distances within a block, in samples
  std::uint64_t block_samples() const {
    return static_cast<std::uint64_t>(width) * height * slices_of_block;
  }
};

class NiftiSource final : public StackSource {
 public:
  /// Opens the file, and reads all samples to determine the range of values and to detect damage.
  NiftiSource(const std::string& path, const SourceOptions& options);

  const FrameFormat& format() const noexcept override { return pool_->format(); }
  const VideoInfo& info() const noexcept override { return info_; }
  std::optional<Frame> read() override;
  void values_of(const Frame& slice, std::vector<double>& values) const override;

  const std::string& path() const noexcept override { return input_.path; }
  /// Returns the description of the volume if the input is not a single NIfTI file; null otherwise.
  const ForeignVolume* foreign() const { return input_.foreign ? &*input_.foreign : nullptr; }
  const NiftiHeader& header() const { return input_.header; }
  /// Returns all contents of the volume's file except the samples.
  const VolumeInput& input() const { return input_; }
  std::vector<std::string> files() const override;
  const SliceGrid& grid() const { return *grid_; }
  const ValueRange& range() const { return range_; }
  /// Throws an error if the samples of a block (SliceGrid) plus `additional_bytes` exceed the
  /// memory limit.
  /// @throws OutOfMemory
  void check_memory(std::uint64_t additional_bytes) const;
  double minimum() const { return minimum_; }
  double maximum() const { return maximum_; }

 private:
  void read_head();
  void skip_head();
  void find_range();
  void read_tail();
  void fill_info();
  void read_block();

  VolumeInput input_;
  std::int64_t max_memory_;
  std::unique_ptr<SampleBytes> file_;
  std::vector<std::byte> block_;
  std::optional<SliceGrid> grid_;
  ValueRange range_;
  double minimum_ = 0, maximum_ = 0;
  VideoInfo info_;
  std::optional<FramePool> pool_;
  std::int64_t next_ = 0, slices_ = 0;
};

}  // namespace lull::io
