#pragma once
// A source for the pages of a TIFF file as slices of a stack.

#include <optional>

#include "core/frame_pool.h"
#include "io/stacks/stack.h"
#include "io/stacks/tiff_file.h"

namespace lull::io {

class TiffSource final : public StackSource {
 public:
  /// Checks every page. If the samples do not have 8 bits, reads all of them for their range.
  TiffSource(const std::string& path, const SourceOptions& options);

  const FrameFormat& format() const noexcept override { return pool_->format(); }
  const VideoInfo& info() const noexcept override { return info_; }
  std::optional<Frame> read() override;
  void values_of(const Frame& slice, std::vector<double>& values) const override;

  const std::string& path() const noexcept override { return path_; }
  /// Returns the maximum number of samples of a page. It follows from the limits with which the
  /// source was opened.
  std::uint64_t max_samples() const { return max_samples_; }
  const TiffPage& page() const { return page_; }
  const ValueRange& range() const { return range_; }
  std::int64_t pages() const { return pages_; }

 private:
  void count_pages();
  void find_range();
  void fill_info();

  std::string path_;
  std::uint64_t max_samples_;
  TiffReader file_;
  TiffPage page_;
  ValueRange range_;
  VideoInfo info_;
  std::optional<FramePool> pool_;
  std::int64_t next_ = 0, pages_ = 0;
};

}  // namespace lull::io
