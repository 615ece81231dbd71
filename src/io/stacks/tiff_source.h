#pragma once
// A source for the pages of a TIFF file as slices of a stack. The source skips pages that are masks
// or reduced copies of other pages.

#include <optional>
#include <vector>

#include "io/stacks/imagej_pages.h"
#include "io/stacks/plane_source.h"
#include "io/stacks/tiff_slice.h"

namespace lull::io {

class TiffSource final : public PlaneSource {
 public:
  /// Checks every page. If the samples are not 8-bit, the constructor reads all samples to find the
  /// range of values of each channel.
  TiffSource(const std::string& path, const SourceOptions& options);

  ImageFacts facts() const override { return facts_; }
  std::vector<std::string> other_contents() const override { return other_contents_; }

  /// Returns the maximum number of samples of a page, from the source's options.
  std::uint64_t max_samples() const { return max_samples_; }
  const TiffLayout& layout() const { return layout_; }
  /// Returns whether ImageJ wrote the description of the first page.
  bool is_imagej() const { return is_imagej_; }
  /// Returns the pages of an ImageJ or MetaMorph file with a single directory; null for other
  /// files.
  const ImagejPages* imagej_pages() const { return imagej_pages_ ? &*imagej_pages_ : nullptr; }

 private:
  void find_pages();
  void read_facts(const std::string& description);
  void read_plane(std::int64_t number, std::vector<std::byte>& stored, bool check) override;

  std::uint64_t max_samples_;
  TiffReader file_;
  bool is_imagej_;
  TiffLayout layout_;
  ImageFacts facts_;
  std::vector<std::string> other_contents_;
  std::optional<ImagejPages> imagej_pages_;
  std::vector<std::uint64_t> directories_;  // byte offsets of the slices' directories
};

}  // namespace lull::io
