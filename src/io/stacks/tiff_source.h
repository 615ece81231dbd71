#pragma once
// A source that returns the pages of a TIFF file as slices of a stack.

#include <optional>
#include <vector>

#include "core/frame_pool.h"
#include "io/axes/stack_axes.h"
#include "io/stacks/imagej_pages.h"
#include "io/stacks/stack.h"
#include "io/stacks/tiff_slice.h"

namespace lull::io {

class TiffSource final : public StackSource {
 public:
  /// Checks every page. If the samples do not have 8 bits, the constructor reads all of them to
  /// determine the ranges of the channels. Frames are returned channel by channel.
  TiffSource(const std::string& path, const SourceOptions& options);

  const FrameFormat& format() const noexcept override { return pool_->format(); }
  const VideoInfo& info() const noexcept override { return info_; }
  std::optional<Frame> read() override;
  void values_of(const Frame& slice, std::vector<double>& values) const override;

  const std::string& path() const noexcept override { return path_; }
  /// Returns the maximum number of samples of a page. The number follows from the limits with which
  /// the source was opened.
  std::uint64_t max_samples() const { return max_samples_; }
  const TiffLayout& layout() const { return layout_; }
  /// Returns whether the first page has a description by ImageJ.
  bool is_imagej() const { return is_imagej_; }
  const StackAxes& axes() const { return axes_; }
  /// Returns the pages of a file of ImageJ with one directory; null for other files.
  const ImagejPages* imagej_pages() const { return imagej_pages_ ? &*imagej_pages_ : nullptr; }
  /// Returns the range of values of each channel.
  const std::vector<ValueRange>& ranges() const { return ranges_; }
  std::int64_t pages() const { return pages_; }
  std::int64_t channel_of_frame(std::int64_t number) const {
    return number / axes_.frames_of_channel();
  }

 private:
  void find_pages();
  void find_ranges();
  /// Reads the stored samples of the page that becomes frame `number`.
  void read_frame(std::int64_t number, std::vector<std::byte>& stored, bool check);
  void fill_info();

  std::string path_;
  std::uint64_t max_samples_;
  TiffReader file_;
  bool is_imagej_;
  TiffLayout layout_;
  StackAxes axes_;
  std::optional<ImagejPages> imagej_pages_;
  std::int64_t pages_ = 0;
  std::vector<std::uint64_t> directories_;  // byte offsets of the pages
  std::vector<ValueRange> ranges_;
  VideoInfo info_;
  std::optional<FramePool> pool_;
  std::int64_t next_ = 0;
};

}  // namespace lull::io
