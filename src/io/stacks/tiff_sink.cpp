// Writes a TIFF file with the tags of the input's pages and filtered samples.

#include <algorithm>

#include "io/ffmpeg/side_data.h"
#include "io/stacks/tiff_source.h"

namespace lull::io {
namespace {

/// Only BigTIFF has offsets of more than 32 bits. The limit leaves space for tags, and for codecs
/// that enlarge incompressible data.
bool needs_big_tiff(const TiffSource& source) {
  constexpr double max_bytes = 3.5e9;
  const TiffPage& page = source.page();
  return static_cast<double>(page.width) * page.height * size_of(page.type) *
             static_cast<double>(source.pages()) >
         max_bytes;
}

class TiffSink final : public StackSink {
 public:
  TiffSink(const std::string& path, const TiffSource& source, const SinkOptions& options)
      : page_(source.page()),
        range_(source.range()),
        frame_format_(source.format()),
        pages_(source.pages()),
        original_(source.path(), source.max_samples()),
        file_(path, file_options(options)),
        writer_(file_, original_.big_endian(), original_.big_tiff() || needs_big_tiff(source)) {
    container_ = "tiff";
    samples_ = name_of(page_.type);
    temporary_ = file_.temporary();
    copy_tags();
  }

  void write(Frame frame) override {
    if (frame.format != frame_format_ || !frame.side_data || next_ == pages_)
      throw InternalError("the sink got a frame that is not a page of the stack");
    if (next_ > 0) {
      if (!original_.next()) original_.fail("has fewer pages than before");
      copy_tags();
    }
    const std::vector<std::byte>& stored = frame.side_data->stored;
    const std::size_t row_bytes = static_cast<std::size_t>(page_.width) * size_of(page_.type);
    result_.resize(stored.size());
    const StoredFormat format{.type = page_.type};
    for (int y = 0; y < page_.height; ++y) {
      const auto row = std::span(result_).subspan(y * row_bytes, row_bytes);
      if (page_.type == StoredType::u8)
        std::copy_n(frame.planes[0].row(y), row_bytes, row.begin());
      else
        store_filtered({frame.plane<float>(0).row(y), static_cast<std::size_t>(page_.width)},
                       std::span(stored).subspan(y * row_bytes, row_bytes), format, range_, format,
                       row);
      zero_outside(frame, y, format, row);
    }
    writer_.write(page_, result_);
    ++next_;
  }

  void finish() override {
    if (next_ != pages_) throw InternalError("the stack was finished before its last page");
    writer_.close();
    file_.commit();
  }

 private:
  void copy_tags() {
    for (std::string& text : writer_.copy_tags(original_, page_))
      if (next_ == 0) losses_.push_back(std::move(text));
  }

  TiffPage page_;
  ValueRange range_;
  FrameFormat frame_format_;
  std::int64_t pages_, next_ = 0;
  TiffReader original_;  // for the tags; the source reads later pages in another thread
  OutputFile file_;
  TiffWriter writer_;
  std::vector<std::byte> result_;
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
