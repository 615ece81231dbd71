#include "io/stacks/tiff_source.h"

#include <algorithm>
#include <limits>

#include "io/tiff/tiff_file.h"

namespace lull::io {

TiffSource::TiffSource(const std::string& path, const SourceOptions& options)
    : PlaneSource(path),
      max_samples_(lull::io::max_samples(options.limits)),
      file_(path, max_samples_),
      is_imagej_(io::is_imagej(file_.handle())),
      layout_(slice_layout(file_, is_imagej_)) {
  const std::uint64_t described = described_pictures(file_.handle());
  const std::string description =
      tiff_tag<const char*>(file_.handle(), TIFFTAG_IMAGEDESCRIPTION, "");
  read_facts(description);
  find_pages();
  auto pages = static_cast<std::int64_t>(directories_.size());
  if (pages == 1 && described > 1) {
    constexpr std::uint64_t maximum = std::numeric_limits<std::int32_t>::max();
    pages = static_cast<std::int64_t>(std::min(described, maximum));
    imagej_pages_.emplace(file_, layout_, pages);
  }
  check_slices(path, pages, options.limits);
  StackAxes axes = read_axes({.path = path,
                              .description = description,
                              .pages = pages,
                              .width = layout_.width,
                              .height = layout_.height});
  const PlaneFormat format{.width = layout_.width,
                           .height = layout_.height,
                           .type = type_of(layout_),
                           .bits = layout_.bits};
  // The source needs memory for a page twice: bytes of the file, and decoded samples.
  lull::io::check_memory(path, 2 * static_cast<std::int64_t>(format.bytes()),
                         options.limits.memory);
  set_planes(std::move(axes), format, options, "tiff");
}

void TiffSource::read_facts(const std::string& description) {
  TIFF* const page = file_.handle();
  facts_ = lull::io::read_facts(description, {.x = tiff_tag<float>(page, TIFFTAG_XRESOLUTION, 0),
                                              .y = tiff_tag<float>(page, TIFFTAG_YRESOLUTION, 0)});
  other_contents_.emplace_back("the TIFF tags of the pages");
  if (!description.empty())
    other_contents_.emplace_back(
        "the description, except axes, sizes of voxels and names of channels");
}

void TiffSource::find_pages() {
  do {
    const TiffLayout layout = slice_layout(file_, is_imagej_);
    if (!is_same_kind(layout, layout_))
      throw BadData("'" + path_ + "' changes to " + describe_slice(layout) + " at page " +
                    std::to_string(directories_.size()) + " (from " + describe_slice(layout_) +
                    "); split it there");
    directories_.push_back(TIFFCurrentDirOffset(file_.handle()));
  } while (file_.next_picture());
}

void TiffSource::read_plane(std::int64_t number, std::vector<std::byte>& stored, bool check) {
  const std::int64_t page = axes().page_at(number);
  if (imagej_pages_) return imagej_pages_->read(page, stored);
  file_.go_to(directories_[static_cast<std::size_t>(page)], page);
  read_slice(file_, layout_, stored, check);
}

std::unique_ptr<MediaSource> open_tiff_source(const std::string& path,
                                              const SourceOptions& options) {
  return std::make_unique<TiffSource>(path, options);
}

}  // namespace lull::io
