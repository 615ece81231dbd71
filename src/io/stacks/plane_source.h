#pragma once
// Base class of the sources for stacks with channels and time points: TIFF files and OME-Zarr.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/frame_pool.h"
#include "io/axes/image_facts.h"
#include "io/axes/stack_axes.h"
#include "io/pyramid/block_means.h"
#include "io/stacks/stack.h"
#include "io/volumes/stack_samples.h"

namespace lull::io {

/// Size and sample type of a plane.
struct PlaneFormat {
  int width = 0, height = 0;
  StoredType type = StoredType::u8;  // in native byte order
  int bits = 8;                      // bits of a sample that the file uses

  std::size_t row_bytes() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(size_of(type));
  }
  std::size_t bytes() const { return row_bytes() * static_cast<std::size_t>(height); }
};

/// The smaller pyramid levels of the planes in a file.
struct PlanePyramid {
  std::vector<PlaneSize> levels;  // smaller than full size, in descending order
  /// `loss` describes parts of the pyramid that a TIFF file cannot store. `note` describes
  /// differences that lose no information. Both strings are empty if there is nothing to report.
  std::string loss, note;
};

class PlaneSource : public StackSource {
 public:
  const FrameFormat& format() const noexcept override { return pool_->format(); }
  const VideoInfo& info() const noexcept override { return info_; }
  /// Returns the next plane. The planes of one channel all come before the planes of the next
  /// channel.
  std::optional<Frame> read() override;
  void values_of(const Frame& slice, std::vector<double>& values) const override;
  const std::string& path() const noexcept override { return path_; }

  const PlaneFormat& plane_format() const { return plane_format_; }
  const StackAxes& axes() const { return axes_; }
  /// Returns the range of values of each channel; empty if frames have 8-bit samples.
  const std::vector<ValueRange>& ranges() const { return ranges_; }
  std::int64_t pages() const { return axes_.channels * axes_.frames_of_channel(); }
  /// Returns the sizes of voxels and the names of channels.
  virtual ImageFacts facts() const = 0;
  /// Returns one string for each property of this stack that a conversion between TIFF and OME-Zarr
  /// does not preserve.
  virtual std::vector<std::string> other_contents() const = 0;
  /// Returns the pyramid for a TIFF file with the planes of this source.
  virtual PlanePyramid pyramid() const { return {}; }

 protected:
  explicit PlaneSource(const std::string& path) : path_(path) {}
  /// Sets the axes and the format of the planes. Except for 8-bit samples, the function reads all
  /// planes to determine the range of values of each channel.
  void set_planes(StackAxes axes, const PlaneFormat& format, const SourceOptions& options,
                  const std::string& container);
  /// Reads the stored samples of frame `number`, and verifies checksums only if `check` is true.
  virtual void read_plane(std::int64_t number, std::vector<std::byte>& stored, bool check) = 0;

  const std::string path_;
  VideoInfo info_;

 private:
  std::int64_t channel_of_frame(std::int64_t number) const {
    return number / axes_.frames_of_channel();
  }
  void find_ranges();
  void fill_info(const std::string& container);

  StackAxes axes_;
  PlaneFormat plane_format_;
  std::vector<ValueRange> ranges_;
  std::optional<FramePool> pool_;
  std::int64_t next_ = 0;
};

/// Converts filtered frames to the sample type of the stack.
class PlaneResult {
 public:
  explicit PlaneResult(const PlaneSource& source);

  /// Converts the next frame, and returns its samples in native byte order, valid until the next
  /// call.
  /// @throws InternalError  the frame is not the next plane of the source
  std::vector<std::byte>& convert(const Frame& frame);
  std::int64_t pages() const { return pages_; }
  /// Checks that the caller has converted all frames.
  /// @throws InternalError
  void check_complete() const;

 private:
  PlaneFormat format_;
  FrameFormat frame_format_;
  std::vector<ValueRange> ranges_;
  std::int64_t frames_of_channel_, pages_, next_ = 0;
  std::vector<std::byte> result_;
};

}  // namespace lull::io
