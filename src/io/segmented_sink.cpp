#include "io/segmented_sink.h"

extern "C" {
#include <libavutil/cpu.h>
}

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "io/encoder.h"
#include "io/ffmpeg_log.h"
#include "io/job_facts.h"
#include "io/loss_notes.h"
#include "io/losses.h"
#include "io/muxer.h"
#include "io/output_file.h"
#include "io/segment_job.h"
#include "io/segment_mux.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

void refuse(const std::string& path, const FileSource& source, const Container& container,
            const SegmentOptions& segments) {
  const std::string& input = source.demuxer().path();
  std::error_code ignored;
  // An H.264 stream must not have two equal IDR pictures in a row (idr_pic_id, ITU-T H.264 7.4.3),
  // and one frame each would make such of all.
  if (segments.frames < 2)
    throw InvalidArgument("segments of " + std::to_string(segments.frames) +
                          " frames (must be 2 at least); some hundred are good");
  if (container.pipe)
    throw InvalidArgument("--segment-frames with standard output (a pipe cannot be continued); " +
                          std::string("give a file"));
  if (source.demuxer().sequence().empty() && !fs::is_regular_file(input, ignored))
    throw InvalidArgument("--segment-frames with the input '" + input +
                          "' (whoever continues has to read it again); give a file");
  if (container.still())
    throw InvalidArgument("--segment-frames with '" + path + "' (a still picture); leave it out");
  if (container.extension == "y4m")
    throw InvalidArgument("--segment-frames with '" + path +
                          "' (frames that are not encoded); use .mkv with --lossless");
}

class SegmentedSink final : public MediaSink {
 public:
  SegmentedSink(const std::string& path, FileSource& source, const SinkOptions& options)
      : source_(source),
        container_(container_of(path, source, options.format)),
        options_(options),
        input_(source),
        container_name_(container_.format->name),
        losses_(options.strict_metadata) {
    refuse(path, source, container_, *options.segments);
    const auto choices = choose_encoders(container_, source, options);
    // FFmpeg's own encoders take no more than 16 by themselves.
    const int most_threads = choices.front().codec->wrapper_name ? 64 : 16;
    const int threads = options.threads > 0 ? options.threads : av_cpu_count();
    job_.emplace(path, *options.segments, options.overwrite, std::min(threads, most_threads));
    options_.threads = job_->threads();
    const bool replace = options.overwrite || job_->made(behind_links(path));
    file_ = std::make_unique<OutputFile>(path, replace, job_->folder());
    Dictionary leftover;
    encoder_ = open_encoder(choices, container_, source, options_, leftover);
    times_ = encoder_->times();
    encoder_name_ = encoder_->choice().codec->name;
    pixel_format_name_ = name_of(encoder_->choice().format);
    const AVCodecContext& context = encoder_->context();
    headers_.assign(context.extradata, context.extradata + context.extradata_size);
    muxer_.emplace(*file_, container_, source, *encoder_, leftover);
    losses_.add(muxer_->left_out());
    losses_.add(losses_of(source, container_, context));
    losses_.add(loss_of_frame(source.first(), context));
    losses_.check();
    job_->begin(job_facts(source, container_, options, *encoder_));
    wanted_ = job_->missing();
  }

  std::vector<FrameRange> wanted() const override { return wanted_; }
  const std::vector<std::string>& notes() const noexcept override { return job_->notes(); }

  void write(Frame frame) override {
    if (frame.format != input_.format)
      throw InternalError("a frame of another format came to the sink");
    const std::int64_t number = times_->frames();
    const std::int64_t segment = number / options_.segments->frames;
    const std::int64_t place = number % options_.segments->frames;
    if (const SegmentRecord* done = job_->find(segment); done) {
      if (place >= done->frames) fail_frames();
      (void)times_->next(frame);
    } else {
      encode(frame, segment);
    }
    losses_.add_of_frame(frame, *encoder_, container_);
    losses_.check();
    if (writer_ && place + 1 == options_.segments->frames) end_segment();
  }

  void finish() override {
    write_end();
    commit();
  }

  std::string finish_if(const std::function<bool()>& accepts) override {
    write_end();
    if (!accepts()) return file_->keep();
    commit();
    return {};
  }

  Damage damage() const override { return muxer_->damage(); }
  const std::string& encoder() const noexcept override { return encoder_name_; }
  const std::string& pixel_format() const noexcept override { return pixel_format_name_; }
  const std::string& container() const noexcept override { return container_name_; }
  const std::vector<std::string>& left_out() const noexcept override { return losses_.list(); }
  const std::string& temporary() const noexcept override { return file_->temporary(); }

 private:
  void encode(const Frame& frame, std::int64_t segment) {
    if (!frame.pixels) throw InternalError("a frame without samples came to the sink");
    if (!writer_) begin_segment(segment);
    encoder_->send(frame);
    ++in_segment_;
    pass_on();
  }

  // The first encoder is there since the start.
  void begin_segment(std::int64_t segment) {
    segment_ = segment;
    in_segment_ = 0;
    writer_ = job_->write(segment);
    if (!std::exchange(encoder_used_, true)) return;
    const EncoderChoice choice = encoder_->choice();
    encoder_.reset();  // gives its memory back first
    Dictionary leftover;
    encoder_ = std::make_unique<Encoder>(choice, container_, input_, options_, leftover, times_);
    const AVCodecContext& context = encoder_->context();
    if (!std::equal(headers_.begin(), headers_.end(), context.extradata,
                    context.extradata + context.extradata_size))
      throw IoError(encoder_name_ + " begins each video with another head (segments would not go " +
                    "together); leave --segment-frames out");
  }

  void end_segment() {
    encoder_->send_end();
    pass_on();
    SegmentRecord record = writer_->finish();
    writer_.reset();
    record.frames = in_segment_;
    job_->add(segment_, record);
  }

  void pass_on() {
    while (const PacketPtr packet = encoder_->receive()) writer_->write(*packet);
  }

  void write_end() {
    if (writer_) end_segment();
    check_frames();
    mux_segments(*job_, source_, encoder_->context().time_base, *muxer_);
  }

  // What earlier runs encoded is what this one has seen.
  void check_frames() const {
    std::int64_t frames = 0;
    for (std::int64_t i = 0; i < job_->segments(); ++i) {
      const SegmentRecord* record = job_->find(i);
      frames += record ? record->frames : 0;
    }
    if (frames != times_->frames()) fail_frames();
  }

  [[noreturn]] void fail_frames() const {
    throw BadData("'" + source_.demuxer().path() +
                  "' does not give as many frames as it did (to the interrupted job); delete '" +
                  job_->folder() + "' to begin anew");
  }

  void commit() {
    file_->settle();
    job_->note_result(file_->temporary());
    file_->commit();
    job_->remove();
  }

  FileSource& source_;
  Container container_;
  SinkOptions options_;
  EncoderInput input_;
  std::string encoder_name_, pixel_format_name_, container_name_;
  LossNotes losses_;
  std::optional<SegmentJob> job_;  // outlives what is in its folder
  std::unique_ptr<OutputFile> file_;
  std::unique_ptr<Encoder> encoder_;
  bool encoder_used_ = false;
  std::shared_ptr<FrameTimes> times_;  // of all frames, encoded now or before
  std::vector<std::uint8_t> headers_;  // that all encoders have to agree on
  std::optional<Muxer> muxer_;
  std::vector<FrameRange> wanted_;
  std::unique_ptr<SegmentWriter> writer_;  // while a segment is being made:
  std::int64_t segment_ = 0, in_segment_ = 0;
};

}  // namespace

std::unique_ptr<MediaSink> open_segmented_sink(const std::string& path, FileSource& source,
                                               const SinkOptions& options) {
  return std::make_unique<SegmentedSink>(path, source, options);
}

}  // namespace lull::io
