// Writes a TIFF file with the tags of the input's pages and filtered samples.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "io/ffmpeg/side_data.h"
#include "io/files/scratch_file.h"
#include "io/stacks/tiff_source.h"

namespace lull::io {
namespace {

class TiffSink final : public StackSink {
 public:
  TiffSink(const std::string& path, const TiffSource& source, const SinkOptions& options)
      : is_imagej_(source.is_imagej()),
        layout_(source.layout()),
        axes_(source.axes()),
        ranges_(source.ranges()),
        frame_format_(source.format()),
        pages_(source.pages()),
        original_(source.path(), source.max_samples()),
        file_(path, file_options(options)) {
    container_ = "tiff";
    samples_ = name_of(type_of(source.layout()));
    temporary_ = file_.temporary();
    if (const ImagejPages* pages = source.imagej_pages()) {
      imagej_writer_.emplace(file_.descriptor(), file_.temporary(), source.path(), *pages);
    } else {
      writer_.emplace(file_.descriptor(), file_.temporary(), original_.big_endian(),
                      original_.big_tiff() || needs_big_tiff(source.layout(), pages_));
      copy_tags(0);
    }
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!axes_.page_of_frame.empty()) frames_.emplace(folder.empty() ? "." : folder.string());
  }

  void write(Frame frame) override {
    if (frame.format != frame_format_ || !frame.side_data || next_ == pages_)
      throw InternalError("the sink got a frame that is not a page of the stack");
    const std::vector<std::byte>& stored = frame.side_data->stored;
    const std::int64_t channel = next_ / axes_.frames_of_channel();
    const StoredFormat format{.type = type_of(layout_)};
    const auto width = static_cast<std::size_t>(layout_.width);
    const std::size_t row_bytes = width * size_of(format.type);
    result_.resize(stored.size());
    for (int y = 0; y < layout_.height; ++y) {
      const auto row = std::span(result_).subspan(y * row_bytes, row_bytes);
      if (frame_format_.sample == SampleType::u8)
        std::copy_n(frame.planes[0].row(y), row_bytes, row.begin());
      else
        store_filtered({frame.plane<float>(0).row(y), width},
                       std::span(stored).subspan(y * row_bytes, row_bytes), format,
                       ranges_[static_cast<std::size_t>(channel)], format, row);
      zero_outside(frame, y, format, row);
    }
    if (frames_)
      frames_->write(result_.data(), result_.size());
    else
      write_page(next_);
    ++next_;
  }

  void finish() override {
    if (next_ != pages_) throw InternalError("the stack was finished before its last page");
    if (frames_) write_in_page_order();
    if (writer_) writer_->close();
    if (imagej_writer_) imagej_writer_->close();
    file_.commit();
  }

  const std::vector<std::string>& notes() const noexcept override { return notes_; }

 private:
  void write_in_page_order() {
    std::vector<std::int64_t> frame_of_page(static_cast<std::size_t>(pages_));
    for (std::int64_t frame = 0; frame < pages_; ++frame)
      frame_of_page[static_cast<std::size_t>(axes_.page_at(frame))] = frame;
    for (std::int64_t page = 0; page < pages_; ++page) {
      const auto bytes = static_cast<std::int64_t>(result_.size());
      frames_->read_from(frame_of_page[static_cast<std::size_t>(page)] * bytes, result_.data(),
                         result_.size());
      write_page(page);
    }
  }

  void write_page(std::int64_t page) {
    if (imagej_writer_) return imagej_writer_->write(result_);
    if (page > 0) {
      if (!original_.next()) original_.fail("has fewer pages than before");
      copy_tags(page);
    }
    write_slice(*writer_, layout_, result_);
  }

  void copy_tags(std::int64_t page) {
    layout_ = slice_layout(original_, is_imagej_);
    TiffChanges changes = writer_->copy_tags(original_, layout_, layout_);
    if (page > 0) return;
    losses_ = std::move(changes.losses);
    notes_ = std::move(changes.notes);
  }

  bool is_imagej_;
  TiffLayout layout_;  // layout of the next page
  StackAxes axes_;
  std::vector<ValueRange> ranges_;  // ranges of the channels
  FrameFormat frame_format_;
  std::int64_t pages_, next_ = 0;
  // Reads the tags of the original pages. The sink has a reader of its own, because the source
  // reads later pages in another thread.
  TiffReader original_;
  OutputFile file_;
  std::optional<TiffWriter> writer_;
  std::optional<ImagejWriter> imagej_writer_;  // for files of ImageJ with one directory
  std::vector<std::byte> result_;
  /// Stores the filtered slices until all are complete. This is necessary if the pages of the file
  /// have another order than the frames. Empty: both have the same order.
  std::optional<ScratchFile> frames_;
  std::vector<std::string> notes_;
};

}  // namespace

std::unique_ptr<MediaSink> open_tiff_sink(const std::string& path, MediaSource& source,
                                          const SinkOptions& options) {
  const auto* stack = dynamic_cast<const TiffSource*>(&source);
  if (!stack) return nullptr;
  check_stack_output(path, source.info());
  if (same_file(path, stack->path()))
    throw InvalidArgument("'" + path + "' is both input and output; give another output");
  refuse_encoder_options(options, path);
  refuse_stack(path, options);
  return std::make_unique<TiffSink>(path, *stack, options);
}

}  // namespace lull::io
