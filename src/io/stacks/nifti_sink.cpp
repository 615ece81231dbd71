// Writes a NIfTI file with the header of the input and filtered samples.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "io/ffmpeg/side_data.h"
#include "io/stacks/nifti_source.h"
#include "io/text_file.h"

namespace lull::io {
namespace {

struct OutputSamples {
  StoredFormat format;
  bool scaled = false;
};

/// Returns the sample format for int16 outputs. Integers that fit in 16 bits are stored unchanged.
/// All other values are scaled to the 65535 values from -32767 to 32767.
OutputSamples as_int16(const NiftiSource& source) {
  const StoredFormat& in = source.header().samples;
  OutputSamples out{in, source.header().scaled};
  out.format.type = StoredType::i16;
  const double a = (source.minimum() - in.inter) / in.slope;
  const double b = (source.maximum() - in.inter) / in.slope;
  const bool whole = in.type != StoredType::f32 && in.type != StoredType::f64;
  if (whole && std::min(a, b) >= -32768 && std::max(a, b) <= 32767) return out;
  const bool narrow = source.header().version == 1;  // the scale in NIfTI-1 headers is a float
  const double middle = source.minimum() / 2 + source.maximum() / 2;
  const double inter = narrow ? static_cast<double>(static_cast<float>(middle)) : middle;
  double slope = std::max(source.maximum() - inter, inter - source.minimum()) / 32767;
  // The slope is rounded up, so that both the minimum and the maximum fit.
  if (narrow && slope > 0)
    slope = std::nextafter(static_cast<float>(slope), std::numeric_limits<float>::infinity());
  if (slope == 0) slope = 1;  // all values are equal
  if (!std::isfinite(slope) || !std::isfinite(inter))
    throw InvalidArgument("'" + source.path() +
                          "' has values that int16 cannot hold (the header cannot state their "
                          "scale); use --datatype float32");
  out.format.inter = inter;
  out.format.slope = slope;
  out.scaled = true;
  return out;
}

OutputSamples output_samples(const NiftiSource& source, DataType type) {
  const StoredFormat& in = source.header().samples;
  switch (type) {
    case DataType::same:
      return {in, source.header().scaled};
    case DataType::int16:
      return as_int16(source);
    case DataType::float32:
      return {{.type = StoredType::f32, .swapped = in.swapped}, source.header().scaled};
  }
  throw InternalError("an unknown data type");
}

/// Sidecar files of a diffusion series, in the form that FSL and dcm2niix write. They contain the
/// strength and the direction of the diffusion weighting of each volume.
class Sidecars {
 public:
  /// @throws CannotCreate  a sidecar file of the output exists with other content and must not be
  ///     replaced
  Sidecars(const NiftiSource& source, const std::string& output, const SinkOptions& options)
      : overwrite_(options.overwrite), follow_links_(options.follow_links) {
    if (source.header().volumes < 2) return;
    for (const char* ending : {".bval", ".bvec"}) {
      const std::string from = stem_of(source.path()) + ending, to = stem_of(output) + ending;
      std::error_code code;
      if (!std::filesystem::exists(from, code) || same_file(from, to)) continue;
      std::string text = read_text(from, max_bytes);
      if (std::filesystem::is_regular_file(to, code)) {
        if (std::filesystem::file_size(to, code) == text.size() && read_text(to, max_bytes) == text)
          continue;
      }
      check_free(to, overwrite_);
      files_.push_back({to, std::move(text), options.access & access_of({from})});
    }
  }

  void write() const {
    for (const File& file : files_)
      write_text(file.path, file.text,
                 {.overwrite = overwrite_, .access = file.access, .follow_links = follow_links_});
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    for (const File& file : files_) notes.push_back("copied: '" + file.path + "'");
    return notes;
  }

 private:
  static constexpr std::size_t max_bytes = std::size_t{1} << 26;
  struct File {
    std::string path, text;
    Access access;
  };

  /// Returns the path without the extension .nii or .nii.gz.
  static std::string stem_of(const std::string& path) {
    const std::size_t is_gzip = is_gzip_name(path) ? 3 : 0;
    const std::string_view plain = std::string_view(path).substr(0, path.size() - is_gzip);
    return std::string(plain.substr(0, plain.size() - (is_nifti_name(plain) ? 4 : 0)));
  }

  bool overwrite_, follow_links_;
  std::vector<File> files_;
};

class NiftiSink final : public StackSink {
 public:
  NiftiSink(const std::string& path, const NiftiSource& source, const SinkOptions& options)
      : out_(output_samples(source, options.datatype)),
        in_(source.header().samples),
        range_(source.range()),
        grid_(source.grid()),
        frame_format_(source.format()),
        slices_(source.info().frames_estimate),
        sidecars_(source, path, options),
        notes_(sidecars_.notes()),
        file_(path, file_options(options)),
        writer_(file_, is_gzip_name(path)) {
    container_ = "nifti";
    if (const ForeignVolume* volume = source.foreign(); volume && volume->format != "nifti1 pair")
      losses_.push_back("metadata of the file of format " + volume->format +
                        ", except its geometry (the output is a NIfTI file)");
    samples_ = name_of(out_.format.type);
    temporary_ = file_.temporary();
    std::vector<std::byte> head = source.head();
    if (out_.format != in_ || out_.scaled != source.header().scaled)
      change_samples(head, source.header(), out_.format, out_.scaled);
    writer_.write(head);
    block_.resize(grid_.block_samples() * size_of(out_.format.type));
    row_.resize(static_cast<std::size_t>(grid_.width) * size_of(out_.format.type));
  }

  void write(Frame frame) override {
    if (frame.format != frame_format_ || !frame.side_data || next_ == slices_)
      throw InternalError("the sink got a frame that is not a slice of the volume");
    const std::int64_t in_block = next_ % grid_.slices_of_block;
    const std::size_t in_bytes = static_cast<std::size_t>(grid_.width) * size_of(in_.type);
    const int bytes = size_of(out_.format.type);
    const PlaneView<float> samples = frame.plane<float>(0);
    for (int y = 0; y < grid_.height; ++y) {
      store_filtered({samples.row(y), static_cast<std::size_t>(samples.width)},
                     std::span(frame.side_data->stored).subspan(y * in_bytes, in_bytes), in_,
                     range_, out_.format, row_);
      zero_outside(frame, y, out_.format, row_);
      std::byte* to = &block_[(in_block * grid_.step_slice + y * grid_.step_y) * bytes];
      for (int x = 0; x < grid_.width; ++x, to += grid_.step_x * bytes)
        std::copy_n(&row_[static_cast<std::size_t>(x) * bytes], bytes, to);
    }
    ++next_;
    if (in_block + 1 == grid_.slices_of_block) writer_.write(block_);
  }

  void finish() override {
    if (next_ != slices_) throw InternalError("the volume was finished before its last slice");
    writer_.finish();
    // The volume's file is renamed last, so that it never exists without its sidecar files.
    file_.finish_writing();
    sidecars_.write();
    file_.commit();
  }

  const std::vector<std::string>& notes() const noexcept override { return notes_; }

 private:
  OutputSamples out_;
  StoredFormat in_;
  ValueRange range_;
  SliceGrid grid_;
  FrameFormat frame_format_;
  std::int64_t slices_, next_ = 0;
  Sidecars sidecars_;
  std::vector<std::string> notes_;
  OutputFile file_;
  GzipWriter writer_;
  std::vector<std::byte> block_, row_;
};

}  // namespace

std::unique_ptr<MediaSink> open_nifti_sink(const std::string& path, MediaSource& source,
                                           const SinkOptions& options) {
  const auto* volume = dynamic_cast<const NiftiSource*>(&source);
  if (!volume) return nullptr;
  check_stack_output(path, source.info());
  volume->check_memory(
      volume->grid().block_samples() *
      static_cast<std::uint64_t>(size_of(output_samples(*volume, options.datatype).format.type)));
  if (same_file(path, volume->path()))
    throw InvalidArgument("'" + path + "' is both input and output; give another output");
  refuse_encoder_options(options, path);
  return std::make_unique<NiftiSink>(path, *volume, options);
}

}  // namespace lull::io
