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
#include "io/segments/result_mark.h"
#include "io/segments/segment_encoder.h"
#include "io/segments/segment_job.h"
#include "io/segments/segment_mux.h"
#include "io/segments/shared_job.h"
#include "io/write/encoding_sink.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

class SegmentedSink final : public EncodingSink {
 public:
  SegmentedSink(const std::string& path, FileSource& source, const SinkOptions& options)
      : EncodingSink(path, source, options),
        source_(source),
        options_(options),
        input_(source, options) {
    refuse_segments(path, source, container_, *options.segments);
    const auto choices = choose_encoders(container_, source, options);
    const EncoderTraits traits = encoder_traits(*choices.front().codec);
    if (options.segments->resume && !options.overwrite && is_done(path, choices)) {
      done_ = true;
      return;
    }
    job_.emplace(path, *options.segments, options.overwrite,
                 threads_of(traits, options.threads, av_cpu_count()), options.access);
    options_.threads = job_->threads();
    OutputFileOptions file = file_options(options);
    file.overwrite = options.overwrite || job_->is_result(resolve_links(path));
    file.folder = job_->folder();
    open(std::make_unique<OutputFile>(path, file), choices, source, options_);
    times_ = encoder_->times();
    segments_.emplace(encoder_, container_, input_, options_);
    losses_.check();
    std::vector<JobFact> facts = job_facts(source, container_, options, *encoder_);
    mark_ = job_id(facts, 0);
    job_->begin(std::move(facts));
    needed_frames_ = job_->missing();
    notes_.insert(notes_.begin(), job_->notes().begin(), job_->notes().end());
  }

  // The job's folder contains the temporary output file, so the destructor must remove this file
  // first.
  ~SegmentedSink() override { file_.reset(); }

  std::vector<FrameRange> needed_frames() const override { return needed_frames_; }
  bool done() const noexcept override { return done_; }

  void write(Frame frame) override {
    check_frame(frame);
    if (done_) return;
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
    if (segments_->busy() && place + 1 == options_.segments->frames) end_segment();
  }

 private:
  /// Returns whether an earlier run finished this job, according to the output's extended attribute
  /// (result_mark.h).
  bool is_done(const std::string& path, const std::vector<EncoderChoice>& choices) {
    if (!is_marked(path) || SegmentJob::exists(path)) return false;
    options_.threads = marked_threads(path);
    Dictionary leftover;
    const auto encoder = open_encoder(choices, container_, source_, options_, leftover);
    return is_result_of(path, job_id(job_facts(source_, container_, options_, *encoder), 0));
  }

  void encode(const Frame& frame, std::int64_t segment) {
    if (!segments_->busy()) {
      segment_ = segment;
      segments_->begin(job_->write(segment));
    }
    segments_->send(frame);
  }

  void end_segment() { job_->add(segment_, segments_->end()); }

  void write_end() override {
    if (done_) return;
    if (segments_->busy()) end_segment();
    check_frames();
    mux_segments({job_->segments(), [this](std::int64_t i) { return job_->read(i); }}, source_,
                 encoder_->context().time_base, *muxer_);
  }

  // The segments of all runs of this job must contain as many frames as this run has read.
  // Otherwise, the function throws an error.
  void check_frames() const {
    if (job_->frames() != times_->frames()) fail_frames();
  }

  [[noreturn]] void fail_frames() const {
    throw BadData("'" + source_.demuxer().path() +
                  "' has another number of frames than for the interrupted job; delete '" +
                  job_->folder() + "' to start again");
  }

  void commit() override {
    if (done_) return;
    file_->finish_writing();
    mark_result(file_->temporary(), mark_, options_.threads);
    job_->note_result(file_->temporary());
    file_->commit();
    job_->remove();
  }

  FileSource& source_;
  SinkOptions options_;
  EncoderInput input_;
  std::optional<SegmentJob> job_;
  std::string mark_;
  bool done_ = false;
  std::shared_ptr<FrameTimes> times_;  // times of all frames, including those of earlier runs
  std::vector<FrameRange> needed_frames_;
  std::optional<SegmentEncoder> segments_;
  std::int64_t segment_ = 0;  // the segment that is being encoded
};

/// For a job of a single process: throws the errors that open_segmented_sink() would throw because
/// of an existing output or an existing job folder.
void check_job_output(const std::string& path, const FileSource& source,
                      const SinkOptions& options) {
  const SegmentOptions& segments = *options.segments;
  const bool job_exists = SegmentJob::exists(path);
  // If the output has the extended attribute of a finished job (result_mark.h), the function throws
  // no error. Later, the sink checks whether that job had the same input and settings as this job.
  if (segments.resume && !options.overwrite && !job_exists && is_marked(path)) return;
  OutputFileOptions file = file_options(options);
  if (job_exists) {
    SegmentJob::check(path, segments, options.overwrite);
    file.overwrite = true;  // check() has examined an existing output
    return try_output(path, source, options, file);
  }
  const SegmentJob job(path, segments, options.overwrite, 1, options.access);
  file.folder = job.folder();
  try_output(path, source, options, file);
}

}  // namespace

void check_segmented_output(const std::string& path, FileSource& source,
                            const SinkOptions& options) {
  const SegmentOptions& segments = *options.segments;
  const Container container = container_of(path, source, options);
  refuse_segments(path, source, container, segments);
  if (segments.part == JobPart::plan) (void)open_plan_sink(path, source, options);
  if (segments.part != JobPart::all) return;
  (void)choose_encoders(container, source, options);
  check_job_output(path, source, options);
}

std::unique_ptr<MediaSink> open_segmented_sink(const std::string& path, FileSource& source,
                                               const SinkOptions& options) {
  switch (options.segments->part) {
    case JobPart::all:
      return std::make_unique<SegmentedSink>(path, source, options);
    case JobPart::plan:
      return open_plan_sink(path, source, options);
    case JobPart::segments:
      return open_task_sink(path, source, options);
    case JobPart::join:
      return open_join_sink(path, source, options);
  }
  throw InternalError("no such part of a job");
}

}  // namespace lull::io
