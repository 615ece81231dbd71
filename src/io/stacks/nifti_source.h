#pragma once
// A source that returns the slices of a NIfTI volume along one axis. For a series, it returns
// volume after volume.

#include <optional>
#include <vector>

#include "core/frame_pool.h"
#include "io/stacks/foreign_volume.h"
#include "io/stacks/gzip_stream.h"
#include "io/stacks/nifti_header.h"
#include "io/stacks/stack.h"

namespace lull::io {

/// Layout of the slices in the file, in which x is the fastest axis, then y, then z. A block is the
/// part of the file that must be in memory to read one slice. If slices are read along z, a block
/// is the slice itself. If they are read along x or y, a block is a volume.
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
  /// Reads the complete file once to determine the range of its values. This also detects damage
  /// and truncation.
  NiftiSource(const std::string& path, const SourceOptions& options);

  const FrameFormat& format() const noexcept override { return pool_->format(); }
  const VideoInfo& info() const noexcept override { return info_; }
  std::optional<Frame> read() override;
  void values_of(const Frame& slice, std::vector<double>& values) const override;

  const std::string& path() const noexcept override { return path_; }
  /// Returns the volume if the source reads a format other than single NIfTI files
  /// (foreign_volume.h); null otherwise.
  const ForeignVolume* foreign() const { return foreign_ ? &*foreign_ : nullptr; }
  const NiftiHeader& header() const { return header_; }
  /// Returns all bytes before the first sample: header, extensions, padding.
  const std::vector<std::byte>& head() const { return head_; }
  const SliceGrid& grid() const { return *grid_; }
  const ValueRange& range() const { return range_; }
  /// Throws an error if the bytes of a block plus `additional_bytes` exceed the memory limit.
  /// @throws OutOfMemory
  void check_memory(std::uint64_t additional_bytes) const;
  double minimum() const { return minimum_; }
  double maximum() const { return maximum_; }

 private:
  void read_head();
  void skip_head();
  void find_range();
  void fill_info();
  void read_block();

  std::string path_;
  std::int64_t max_memory_;
  std::optional<ForeignVolume> foreign_;  // the volume is not a single NIfTI file
  GzipReader file_;
  NiftiHeader header_;
  std::vector<std::byte> head_, block_;
  std::optional<SliceGrid> grid_;
  ValueRange range_;
  double minimum_ = 0, maximum_ = 0;
  VideoInfo info_;
  std::optional<FramePool> pool_;
  std::int64_t next_ = 0, slices_ = 0;
};

}  // namespace lull::io
