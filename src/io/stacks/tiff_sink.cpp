// Writes TIFF files: with the tags of a TIFF input, or as OME-TIFF for other stacks.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "io/files/scratch_file.h"
#include "io/stacks/tiff_levels.h"
#include "io/stacks/tiff_source.h"
#include "io/zarr/zarr_name.h"

namespace lull::io {
namespace {

/// Writes the filtered pages of a TIFF file with the tags of the input.
class TiffSink final : public StackSink {
 public:
  TiffSink(const std::string& path, const TiffSource& source, const SinkOptions& options)
      : is_imagej_(source.is_imagej()),
        layout_(source.layout()),
        axes_(source.axes()),
        result_(source),
        original_(source.path(), source.max_samples()),
        levels_(source.path(), source.max_samples()),
        file_(path, file_options(options)) {
    container_ = "tiff";
    samples_ = name_of(type_of(source.layout()));
    temporary_ = file_.temporary();
    if (const ImagejPages* pages = source.imagej_pages()) {
      imagej_writer_.emplace(file_.descriptor(), file_.temporary(), source.path(), *pages);
    } else {
      // The smaller pyramid levels of a page together need at most as much space as the page.
      const int images = levels_.find(original_, layout_, 0) > 0 ? 2 : 1;
      writer_.emplace(file_.descriptor(), file_.temporary(), original_.big_endian(),
                      original_.big_tiff() || needs_big_tiff(layout_, images * result_.pages()));
      copy_tags(0);
    }
    if (!axes_.page_of_frame.empty()) frames_.emplace(folder_of(path));
  }

  void write(Frame frame) override {
    std::vector<std::byte>& samples = result_.convert(frame);
    if (frames_) {
      frames_->write(samples.data(), samples.size());
      page_bytes_ = samples.size();
    } else {
      write_page(next_++, samples);
    }
  }

  void finish() override {
    result_.check_complete();
    if (frames_) write_in_page_order();
    if (writer_) writer_->close();
    if (imagej_writer_) imagej_writer_->close();
    file_.commit();
  }

  const std::vector<std::string>& notes() const noexcept override { return notes_; }

 private:
  void write_in_page_order() {
    std::vector<std::int64_t> frame_of_page(static_cast<std::size_t>(result_.pages()));
    for (std::int64_t frame = 0; frame < result_.pages(); ++frame)
      frame_of_page[static_cast<std::size_t>(axes_.page_at(frame))] = frame;
    std::vector<std::byte> samples(page_bytes_);
    for (std::int64_t page = 0; page < result_.pages(); ++page) {
      const auto bytes = static_cast<std::int64_t>(page_bytes_);
      frames_->read_from(frame_of_page[static_cast<std::size_t>(page)] * bytes, samples.data(),
                         samples.size());
      write_page(page, samples);
    }
  }

  void write_page(std::int64_t page, std::vector<std::byte>& samples) {
    if (imagej_writer_) return imagej_writer_->write(samples);
    if (page > 0) {
      if (!original_.next_picture()) original_.fail("has fewer pages than before");
      copy_tags(page);
    }
    write_slice(*writer_, layout_, samples);
    levels_.write(*writer_, layout_, samples);
  }

  void copy_tags(std::int64_t page) {
    layout_ = slice_layout(original_, is_imagej_);
    TiffChanges changes = writer_->copy_tags(original_, layout_, layout_);
    const int levels = levels_.find(original_, layout_, page);
    writer_->announce_levels(levels);
    if (levels > 0) std::erase(changes.losses, lost_sub_images);
    if (page == 0) {
      losses_ = std::move(changes.losses);
      notes_ = std::move(changes.notes);
    } else if (std::ranges::count(changes.losses, lost_sub_images) >
               std::ranges::count(losses_, lost_sub_images)) {
      losses_.emplace_back(lost_sub_images);
    }
  }

  bool is_imagej_;
  TiffLayout layout_;  // layout of the next page
  StackAxes axes_;
  PlaneResult result_;
  // Reads the tags of the original pages. The sink has its own reader, because another thread may
  // move the reader of the source to a later page.
  TiffReader original_;
  TiffLevels levels_;
  OutputFile file_;
  std::optional<TiffWriter> writer_;
  std::optional<ImagejWriter> imagej_writer_;  // for ImageJ and MetaMorph files with one directory
  std::int64_t next_ = 0;
  /// All filtered slices. The sink stores them only if the order of frames differs from the order
  /// of pages.
  std::optional<ScratchFile> frames_;
  std::size_t page_bytes_ = 0;
  std::vector<std::string> notes_;
};

/// Converts a stack in another format to an OME-TIFF file.
class OmeTiffSink final : public StackSink {
 public:
  OmeTiffSink(const std::string& path, const PlaneSource& source, const SinkOptions& options)
      : layout_(layout_of(source.plane_format())),
        levels_(layouts_of(layout_, source.pyramid())),
        result_(source),
        file_(path, file_options(options)),
        // The smaller pyramid levels of a page together need at most as much space as the page.
        writer_(file_.descriptor(), file_.temporary(), /*big_endian=*/false,
                needs_big_tiff(layout_, (levels_.empty() ? 1 : 2) * result_.pages())),
        description_(
            make_ome_xml(source.axes(), pixels_of(source.plane_format()), source.facts())) {
    container_ = "tiff";
    samples_ = name_of(source.plane_format().type);
    temporary_ = file_.temporary();
    losses_ = losses_of_planes(path, source);
    if (std::string note = source.pyramid().note; !note.empty()) notes_.push_back(std::move(note));
  }

  const std::vector<std::string>& notes() const noexcept override { return notes_; }

  void write(Frame frame) override {
    const std::vector<std::byte>& samples = result_.convert(frame);
    writer_.set_tiled_tags(layout_, /*is_level=*/false);
    writer_.announce_levels(static_cast<int>(levels_.size()));
    if (!description_.empty())
      TIFFSetField(writer_.handle(), TIFFTAG_IMAGEDESCRIPTION, description_.c_str());
    description_.clear();
    write_slice(writer_, layout_, samples);
    write_copies(writer_, layout_, samples, levels_,
                 [this](std::size_t i) { writer_.set_tiled_tags(levels_[i], /*is_level=*/true); });
  }

  void finish() override {
    result_.check_complete();
    writer_.close();
    file_.commit();
  }

 private:
  static TiffLayout layout_of(const PlaneFormat& format) {
    TiffLayout layout;
    layout.width = format.width;
    layout.height = format.height;
    layout.bits = 8 * size_of(format.type);
    const std::string_view name = name_of(format.type);
    layout.form = name.starts_with("uint")  ? SAMPLEFORMAT_UINT
                  : name.starts_with("int") ? SAMPLEFORMAT_INT
                                            : SAMPLEFORMAT_IEEEFP;
    return layout;
  }

  static std::vector<TiffLayout> layouts_of(const TiffLayout& page, const PlanePyramid& pyramid) {
    std::vector<TiffLayout> levels;
    for (const PlaneSize& size : pyramid.levels) {
      levels.push_back(page);
      levels.back().width = static_cast<int>(size.width);
      levels.back().height = static_cast<int>(size.height);
    }
    return levels;
  }

  static OmePixels pixels_of(const PlaneFormat& format) {
    const std::string_view name = name_of(format.type);
    const bool is_float = name.starts_with("float");
    return {.width = format.width,
            .height = format.height,
            .type = !is_float           ? std::string(name)
                    : name == "float64" ? "double"
                                        : "float"};
  }

  TiffLayout layout_;
  std::vector<TiffLayout> levels_;  // layouts of the smaller copies of a page
  PlaneResult result_;
  OutputFile file_;
  TiffWriter writer_;
  std::vector<std::string> notes_;
  std::string description_;  // description of the next page
};

}  // namespace

std::unique_ptr<MediaSink> open_tiff_sink(const std::string& path, MediaSource& source,
                                          const SinkOptions& options) {
  const auto* planes = dynamic_cast<const PlaneSource*>(&source);
  if (!planes || is_zarr_name(path)) return nullptr;
  check_stack_output(path, source.info());
  if (same_file(path, planes->path()))
    throw InvalidArgument("'" + path + "' is both input and output; give another output");
  refuse_encoder_options(options, path);
  refuse_stack(path, options);
  if (const auto* tiff = dynamic_cast<const TiffSource*>(&source))
    return std::make_unique<TiffSink>(path, *tiff, options);
  return std::make_unique<OmeTiffSink>(path, *planes, options);
}

}  // namespace lull::io
