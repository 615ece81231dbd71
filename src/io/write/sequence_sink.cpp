#include "io/write/sequence_sink.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>

#include "io/encode/encoder.h"
#include "io/exr/exr_file.h"
#include "io/exr/exr_picture.h"
#include "io/ffmpeg/side_data.h"
#include "io/files/output_file.h"
#include "io/leftovers.h"
#include "io/metadata/embed_in_tiff.h"
#include "io/metadata/formats.h"
#include "io/pictures/sequence.h"
#include "io/tiff/tiff_picture.h"
#include "io/write/loss_notes.h"
#include "io/write/losses.h"
#include "io/write/metadata_embedder.h"
#include "io/write/stream_handling.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

/// Encodes frames as picture files. receive() returns the pictures in the order of send().
class PictureEncoder {
 public:
  virtual ~PictureEncoder() = default;
  virtual void send(const Frame& frame) = 0;
  virtual void send_end() {}
  /// Returns the next encoded picture; null if no picture is ready.
  virtual PacketPtr receive() = 0;
  /// Writes an encoded picture to the output file.
  virtual void write(const AVPacket& picture, const TiffOrigin&, Output& file) {
    avio_write(file.io(), picture.data, picture.size);
  }
  /// Returns whether write() adds the metadata to the picture.
  virtual bool writes_metadata() const { return false; }
  /// Completes the output file after its last picture.
  virtual void end_file(Output&) {}
};

class FfmpegPictures : public PictureEncoder {
 public:
  explicit FfmpegPictures(std::unique_ptr<Encoder> encoder) : encoder_(std::move(encoder)) {}
  void send(const Frame& frame) override { encoder_->send(frame); }
  void send_end() override { encoder_->send_end(); }
  PacketPtr receive() override { return encoder_->receive(); }

 private:
  std::unique_ptr<Encoder> encoder_;
};

/// Writes pictures as TIFF files. The packets of the encoder contain uncompressed pictures, which
/// TiffPictureWriter encodes.
class Tiffs final : public FfmpegPictures {
 public:
  /// @param embedder  prepares the metadata of pictures that do not come from TIFF files; may be
  ///     null
  Tiffs(std::unique_ptr<Encoder> encoder, MetadataEmbedder* embedder)
      : FfmpegPictures(std::move(encoder)), embedder_(embedder) {}

  bool writes_metadata() const override { return true; }
  void write(const AVPacket& packet, const TiffOrigin& origin, Output& file) override {
    const AVFrame& picture = *reinterpret_cast<const AVFrame*>(packet.data);
    if (!writer_) writer_.emplace(file.descriptor(), file.temporary(), without_thumbnails);
    metadata_ = embedder_ ? embedder_->next() : PictureMetadata();
    writer_->add(picture, origin, tiff_metadata(metadata_));
  }
  void end_file(Output& file) override {
    writer_->close();
    writer_.reset();
    if (!metadata_.exif.empty()) add_exif_to_tiff(file.descriptor(), metadata_);
  }

 private:
  MetadataEmbedder* embedder_;
  std::optional<TiffPictureWriter> writer_;
  PictureMetadata metadata_;  // metadata of the picture that was written last
};

class LayeredExrs final : public PictureEncoder {
 public:
  void send(const Frame& frame) override { ready_ = write_exr(frame); }
  PacketPtr receive() override { return std::exchange(ready_, nullptr); }

 private:
  PacketPtr ready_;
};

/// Returns the name of an output file for picture `number`. `match` is the text that the '*' in the
/// input's pattern matched.
using Naming = std::function<std::string(std::int64_t number, const std::string& match)>;

Naming naming_of(const std::string& path, const FileSource& source) {
  if (const auto numbers = number_pattern(path))
    return [=](std::int64_t number, const std::string&) { return numbers->name(number); };
  const auto star = star_pattern(path);
  const auto& files = source.demuxer().sequence();
  if (!star || files.empty() || files.front().match.empty())
    throw InvalidArgument("'" + path +
                          "' has no number (and the input no '*' to name it by); give a name such "
                          "as out.%04d.png");
  return [=](std::int64_t, const std::string& match) { return star->name(match); };
}

class SequenceSink final : public MediaSink {
 public:
  SequenceSink(const std::string& path, FileSource& source, const SinkOptions& options)
      : path_(path),
        sequence_(makes_sequence(path, source, options)),
        has_pages_(keeps_tiff_pages(path, source, options)),
        file_options_(file_options(options)),
        format_(written_format(source, options)),
        container_name_(sequence_           ? "image2"
                        : is_exr_name(path) ? "exr"
                                            : "tiff"),
        losses_(options.strict_metadata) {
    if (sequence_) {
      naming_ = naming_of(path, source);
      check_names(source);
      if (source.demuxer().sequence().empty() && !options.single) check_numbers(source);
      note_losses(source, options.drops);
      remove_leftovers_of_names();
    } else if (!options.single && !has_pages_ && source.has_second_frame()) {
      throw InvalidArgument("'" + path + "' is a still picture (the input has several frames); " +
                            "give a name such as out.%04d" + fs::path(path).extension().string());
    } else {
      naming_ = [path](std::int64_t, const std::string&) { return path; };
      check_names(source);
      if (!has_pages_) note_losses(source, options.drops);
    }
    open_encoder(source, options);
    if (!sequence_) file_.emplace(path, file_options_);
  }

  void write(Frame frame) override {
    if (frame.pixels && frame.format != format_)
      throw InternalError("the sink got a frame of another format");
    if (frame.on_device) throw InternalError("the sink got a frame in GPU memory");
    if (!frame.side_data) throw InternalError("the sink got a frame without a number");
    if (!sequence_ && !has_pages_ && frames_++ > 0)
      throw InvalidArgument("a still picture cannot hold a second frame; use .mkv");
    const SideData& data = *frame.side_data;
    names_.push_back({naming_(data.number, data.match), {data.tiff, data.tiff_page}});
    if (embedder_) embedder_->push(frame);
    if (embedder_) losses_.add(embedder_->losses());  // losses of later pictures, too
    losses_.check();
    encoder_->send(frame);
    write_ready();
  }

  void finish() override {
    write_end();
    if (file_) file_->commit();
  }

  std::string finish_if(const std::function<bool()>& accepts) override {
    write_end();
    const bool is_accepted = accepts();
    if (file_ && !is_accepted) return file_->keep_partial();
    if (file_) file_->commit();
    return {};
  }

  const std::string& encoder() const noexcept override { return encoder_name_; }
  const std::string& pixel_format() const noexcept override { return pixel_format_name_; }
  const std::string& container() const noexcept override { return container_name_; }
  const std::vector<std::string>& losses() const noexcept override { return losses_.list(); }
  const std::string& temporary() const noexcept override {
    return file_ ? file_->temporary() : no_file_;
  }
  const std::vector<std::string>& notes() const noexcept override { return notes_; }

 private:
  void open_embedder(const FileSource& source, const Container& container,
                     const SinkOptions& options, const std::vector<EncoderChoice>& choices) {
    embedder_.emplace(source, container, options, choices);
    losses_.add(embedder_->losses());
    notes_.insert(notes_.end(), embedder_->notes().begin(), embedder_->notes().end());
  }

  // Checks all names of output files that lull knows before the first frame, so that errors occur
  // early.
  void check_names(const FileSource& source) {
    const fs::path folder = fs::path(path_).parent_path();
    std::error_code ignored;
    if (!folder.empty() && !fs::is_directory(folder, ignored))
      throw CannotCreate("cannot create '" + path_ + "' (no such folder)");
    for (const SequenceFile& file : source.demuxer().sequence())
      inputs_.insert(fs::weakly_canonical(file.path, ignored).string());
    for (const SequenceFile& file : source.demuxer().sequence())
      if (file.selected) check_name(naming_(file.number, file.match));
    if (source.demuxer().sequence().empty() && !sequence_) check_name(path_);
  }

  /// Removes the temporary files that killed processes left for outputs with names that match
  /// `path_`. Reads the folder only once.
  void remove_leftovers_of_names() {
    const fs::path path = path_;
    const std::optional<NumberPattern> numbers = number_pattern(path_);
    remove_leftovers(path.parent_path().string(), [&](const std::string& name) {
      return numbers ? number_in(name, *numbers).has_value()
                     : fs::path(name).extension() == path.extension();
    });
    file_options_.removes_leftovers = false;
  }

  void check_name(const std::string& name) const {
    std::error_code ignored;
    if (inputs_.contains(fs::weakly_canonical(name, ignored).string()))
      throw InvalidArgument("'" + name + "' is both input and output; give another output");
    if (!file_options_.overwrite && fs::exists(name, ignored))
      throw CannotCreate("'" + name + "' exists; give -y to overwrite it");
  }

  // Checks every existing file that the output may replace. The selection and the estimated number
  // of frames determine which files these are.
  void check_numbers(const FileSource& source) const {
    if (file_options_.overwrite || !number_pattern(path_)) return;
    for (const SequenceFile& file : existing_numbers(path_))
      if (may_come(file.number, source)) check_name(file.path);
  }

  static bool may_come(std::int64_t number, const FileSource& source) {
    const Selection& part = source.options().selection;
    const std::int64_t frames = source.info().frames_estimate;
    if (!part.ranges.empty())
      return std::ranges::any_of(part.ranges, [&](const FrameRange& range) {
        const bool open = range.last == FrameRange{}.last && frames > 0;
        return number >= range.first && number <= (open ? range.first + frames - 1 : range.last);
      });
    const AVRational rate = to_av(source.info().frame_rate);
    if (part.start_us > 0 && rate.num <= 0) return false;
    // The file may contain rounded timestamps. Therefore, the selected part includes a frame that
    // begins up to 0.1 frame durations before this part.
    const double start =
        static_cast<double>(part.start_us) * 1e-6 * (rate.num > 0 ? av_q2d(rate) : 0);
    const auto first = static_cast<std::int64_t>(std::ceil(start - 0.1));
    return number >= first && (frames == 0 || number < first + frames);
  }

  void note_losses(const FileSource& source, const Drops& drops) {
    const AVFormatContext& context = source.demuxer().context();
    for (unsigned i = 0; i < context.nb_streams; ++i)
      if (context.streams[i] != &source.demuxer().video() &&
          !is_dropped(*context.streams[i], drops))
        losses_.add(describe(*context.streams[i]));
  }

  void open_encoder(FileSource& source, const SinkOptions& options) {
    if (makes_layered_exr(path_, source, options)) {
      encoder_ = std::make_unique<LayeredExrs>();
      encoder_name_ = "openexr";
      pixel_format_name_ = source.info().pixel_format;
      return open_embedder(source, {.extension = "exr"}, options, {});
    }
    losses_.add(lost_layers(source));
    Container container = container_of(path_, source, options);
    container.numbered = true;
    Dictionary leftover;
    const std::vector<EncoderChoice> choices = choose_encoders(container, source, options);
    if (!copies_tiff_tags(source, container)) {
      open_embedder(source, container, options, choices);
      container.rotation = embedder_->rotation();
    }
    auto encoder = lull::io::open_encoder(choices, container, source, options, leftover);
    if (const std::string key = leftover.first_key(); !key.empty())
      throw InvalidArgument("no such option: " + key + " (" + encoder->choice().codec->name +
                            " does not have it)");
    const EncoderChoice& choice = encoder->choice();
    encoder_name_ = container.encoder_name(*choice.codec);
    pixel_format_name_ = name_of(choice.format);
    losses_.add(choice.loss);
    if (!choice.note.empty()) notes_.push_back(choice.note);
    if (copies_tiff_tags(source, container)) {
      const TiffChanges changes = predict_tiff_changes(source, options, choice.format);
      losses_.add(changes.losses);
      notes_.insert(notes_.end(), changes.notes.begin(), changes.notes.end());
    }
    if (container.uses_libtiff())
      encoder_ = std::make_unique<Tiffs>(std::move(encoder), embedder_ ? &*embedder_ : nullptr);
    else
      encoder_ = std::make_unique<FfmpegPictures>(std::move(encoder));
  }

  void write_ready() {
    while (PacketPtr encoded = encoder_->receive()) {
      if (names_.empty()) throw InternalError("the encoder made a picture of nothing");
      const PendingName next = std::move(names_.front());
      names_.pop_front();
      if (file_) {
        write_picture(std::move(encoded), next.origin, *file_);
        continue;
      }
      OutputFile file(next.path, file_options_);
      write_picture(std::move(encoded), next.origin, file);
      encoder_->end_file(file);
      file.commit();
    }
  }

  void write_picture(PacketPtr picture, const TiffOrigin& origin, Output& file) {
    if (embedder_ && !encoder_->writes_metadata()) picture = embedder_->embed(std::move(picture));
    encoder_->write(*picture, origin, file);
  }

  void write_end() {
    encoder_->send_end();
    write_ready();
    if (!names_.empty()) throw InternalError("the encoder kept a picture");
    if (file_) encoder_->end_file(*file_);
  }

  /// Output file of a picture that is still in the encoder.
  struct PendingName {
    std::string path;
    TiffOrigin origin;
  };

  std::string path_;
  bool sequence_, has_pages_;
  OutputFileOptions file_options_;
  FrameFormat format_;
  Naming naming_;
  std::set<std::string> inputs_;  // canonical paths of the source's files
  std::deque<PendingName> names_;
  std::optional<OutputFile> file_;  // for the output that is a single file
  std::unique_ptr<PictureEncoder> encoder_;
  std::string encoder_name_, pixel_format_name_, container_name_, no_file_;
  std::optional<MetadataEmbedder> embedder_;
  LossList losses_;
  std::vector<std::string> notes_;
  std::int64_t frames_ = 0;
};

}  // namespace

bool makes_sequence(const std::string& path, const FileSource& source, const SinkOptions& options) {
  if (path == "-" || source.info().still || !is_still_name(path, options.format)) return false;
  return is_glob(path) || number_pattern(path).has_value();
}

bool makes_tiff(const std::string& path, const FileSource& source, const SinkOptions& options) {
  return is_still_name(path, options.format) && container_of(path, source, options).uses_libtiff();
}

bool copies_tiff_tags(const FileSource& source, const Container& container) {
  return source.is_tiff() && container.uses_libtiff();
}

bool keeps_tiff_pages(const std::string& path, const FileSource& source,
                      const SinkOptions& options) {
  return source.is_tiff() && source.demuxer().sequence().empty() &&
         !makes_sequence(path, source, options) && makes_tiff(path, source, options);
}

TiffChanges predict_tiff_changes(const FileSource& source, const SinkOptions& options,
                                 AVPixelFormat format) {
  const FramePtr picture = make_frame();
  const FrameFormat frame = written_format(source, options);
  picture->width = frame.width;
  picture->height = frame.height;
  picture->format = format;
  return predict_changes(*picture, {.path = source.demuxer().path()}, without_thumbnails);
}

bool makes_layered_exr(const std::string& path, const FileSource& source,
                       const SinkOptions& options) {
  return path != "-" && source.demuxer().reader() == PictureReader::exr &&
         options.pix_fmt.empty() && options.bits == 0 && options.vopts.empty() &&
         options.vcodec.empty() && written_format(source, options) == source.format() &&
         is_exr_name(options.format.empty() ? path : "." + options.format);
}

std::unique_ptr<MediaSink> open_sequence_sink(const std::string& path, FileSource& source,
                                              const SinkOptions& options) {
  return std::make_unique<SequenceSink>(path, source, options);
}

}  // namespace lull::io
