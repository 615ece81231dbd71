#include "io/write/plain_sinks.h"

#include <bit>

#include "core/describe.h"
#include "io/ffmpeg/side_data.h"
#include "io/files/byte_pipe.h"
#include "io/files/sha256.h"

namespace lull::io {
namespace {

static_assert(std::endian::native == std::endian::little, "digests are of little-endian samples");

/// Base class of the sinks that do not create a file.
class SinkWithoutFile : public MediaSink {
 public:
  SinkWithoutFile(const MediaSource& source, const SinkOptions& options, const char* name)
      : format_(written_format(source, options)),
        name_(name),
        pixel_format_(source.info().pixel_format) {}

  const std::string& encoder() const noexcept override { return name_; }
  const std::string& pixel_format() const noexcept override { return pixel_format_; }
  const std::string& container() const noexcept override { return name_; }
  const std::vector<std::string>& losses() const noexcept override { return none_; }
  const std::string& temporary() const noexcept override { return no_file_; }

 protected:
  void check_format(const Frame& frame) const {
    if (frame.pixels && frame.format != format_)
      throw InternalError("the sink got a frame of another format");
  }
  const FrameFormat& format() const { return format_; }

 private:
  FrameFormat format_;
  std::string name_, pixel_format_, no_file_;
  std::vector<std::string> none_;
};

class NullSink final : public SinkWithoutFile {
 public:
  NullSink(const MediaSource& source, const SinkOptions& options)
      : SinkWithoutFile(source, options, "null") {}
  void write(Frame frame) override { check_format(frame); }
  void finish() override {}
};

class HashSink final : public SinkWithoutFile {
 public:
  HashSink(const MediaSource& source, const SinkOptions& options)
      : SinkWithoutFile(source, options, "hash"), descriptor_(options.descriptor) {}

  void write(Frame frame) override {
    check_format(frame);
    if (frame.on_device) throw InternalError("the sink got a frame in GPU memory");
    if (frames_ == 0) print_head(frame);
    add_samples(frame);
    if (has_alpha(frame)) add_samples(frame.side_data->alpha);
    print(std::to_string(frames_++) + " " + std::to_string(frame.pts) + " " + digest_.take());
  }

  void finish() override {
    const std::string digest = lines_.take();
    print("all " + std::to_string(frames_) + " " + digest);
  }

 private:
  static bool has_alpha(const Frame& frame) {
    return frame.side_data && frame.side_data->alpha.pixels;
  }

  void add_samples(const Frame& frame) {
    for (int i = 0; i < frame.format.planes(); ++i) {
      const std::size_t bytes =
          static_cast<std::size_t>(frame.format.plane_width(i)) * frame.format.bytes_per_sample();
      for (int y = 0; y < frame.format.plane_height(i); ++y)
        digest_.add(frame.planes[i].row(y), bytes);
    }
  }

  void print_head(const Frame& frame) {
    print("# lull hash 1, SHA-256");
    print("# " + describe(format()) + (has_alpha(frame) ? " with alpha" : ""));
    print("# time base " + std::to_string(frame.time_base.num) + "/" +
          std::to_string(frame.time_base.den));
  }

  void print(const std::string& text) {
    const std::string line = text + "\n";
    lines_.add(line.data(), line.size());
    check<IoError>(write_all(descriptor_, line.data(), line.size()),
                   "cannot write to standard output");
  }

  int descriptor_;
  Sha256 digest_, lines_;
  std::int64_t frames_ = 0;
};

}  // namespace

std::unique_ptr<MediaSink> open_null_sink(const MediaSource& source, const SinkOptions& options) {
  return std::make_unique<NullSink>(source, options);
}

std::unique_ptr<MediaSink> open_hash_sink(const MediaSource& source, const SinkOptions& options) {
  return std::make_unique<HashSink>(source, options);
}

}  // namespace lull::io
