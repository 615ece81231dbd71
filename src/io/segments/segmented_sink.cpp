#include "io/segments/segmented_sink.h"

extern "C" {
#include <libavutil/cpu.h>
}

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "io/encode/encoder.h"
#include "io/ffmpeg/ffmpeg_log.h"
#include "io/files/output_file.h"
#include "io/segments/job_facts.h"
#include "io/segments/segment_job.h"
#include "io/segments/segment_mux.h"
#include "io/write/encoding_sink.h"

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
  if (container.traits->raw_frames)
    throw InvalidArgument("--segment-frames with '" + path +
                          "' (frames that are not encoded); use .mkv with --lossless");
}

class SegmentedSink final : public EncodingSink {
 public:
  SegmentedSink(const std::string& path, FileSource& source, const SinkOptions& options)
      : EncodingSink(path, source, options), source_(source), options_(options), input_(source) {
    refuse(path, source, container_, *options.segments);
    const auto choices = choose_encoders(container_, source, options);
    const EncoderTraits traits = encoder_traits(*choices.front().codec);
    job_.emplace(path, *options.segments, options.overwrite,
                 threads_of(traits, options.threads, av_cpu_count()));
    options_.threads = job_->threads();
    const bool replace = options.overwrite || job_->made(behind_links(path));
    open(std::make_unique<OutputFile>(path, replace, job_->folder()), choices, source, options_);
    times_ = encoder_->times();
    const AVCodecContext& context = encoder_->context();
    headers_.assign(context.extradata, context.extradata + context.extradata_size);
    losses_.check();
    job_->begin(job_facts(source, container_, options, *encoder_));
    wanted_ = job_->missing();
    notes_.insert(notes_.begin(), job_->notes().begin(), job_->notes().end());
  }

  // The job outlives what is in its folder.
  ~SegmentedSink() override { file_.reset(); }

  std::vector<FrameRange> wanted() const override { return wanted_; }

  void write(Frame frame) override {
    check_frame(frame);
    const std::int64_t number = times_->frames();
    const std::int64_t segment = number / options_.segments->frames;
    const std::int64_t place = number % options_.segments->frames;
    if (const SegmentRecord* done = job_->find(segment); done) {
      if (place >= done->frames) fail_frames();
      (void)times_->next(frame);
    } else {
      encode(frame, segment);
    }
    note_losses(frame);
    if (writer_ && place + 1 == options_.segments->frames) end_segment();
  }

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
      throw IoError(encoder() + " begins each video with another head (segments would not go " +
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

  void write_end() override {
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

  void commit() override {
    file_->settle();
    job_->note_result(file_->temporary());
    file_->commit();
    job_->remove();
  }

  FileSource& source_;
  SinkOptions options_;
  EncoderInput input_;
  std::optional<SegmentJob> job_;
  bool encoder_used_ = false;
  std::shared_ptr<FrameTimes> times_;  // of all frames, encoded now or before
  std::vector<std::uint8_t> headers_;  // that all encoders have to agree on
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
