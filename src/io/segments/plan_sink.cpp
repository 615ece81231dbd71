#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

extern "C" {
#include <libavutil/cpu.h>
}

#include "io/encode/encoder.h"
#include "io/jobs.h"
#include "io/segments/job_facts.h"
#include "io/segments/shared_job.h"
#include "io/write/encoding_sink.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

/// Returns the absolute path without "." and double slashes. Keeps a path with "..", because ".."
/// after a symbolic link means the parent of the link's target.
std::string absolute_path(const std::string& path) {
  std::error_code code;
  const fs::path whole = fs::absolute(path, code);
  if (code) return path;
  const bool goes_up = std::ranges::find(whole, "..") != whole.end();
  return (goes_up ? whole : whole.lexically_normal()).string();
}

std::string path_of(const FileSource& source, const std::string& input) {
  return absolute_path(source.demuxer().sequence().empty() ? source.demuxer().path() : input);
}

bool has_no_timestamps(const FileSource& source) {
  const AVInputFormat& format = *source.demuxer().context().iformat;
  return (format.flags & AVFMT_NOTIMESTAMPS) != 0 && std::string_view(format.name) != "rawvideo" &&
         source.demuxer().sequence().empty();
}

/// Returns the reason why decoding must start at the first picture; empty if decoding can start at
/// later pictures.
std::string no_seek_reason(const FileSource& source, const std::vector<FrameMark>& pictures) {
  if (std::ranges::any_of(pictures, [](const FrameMark& mark) { return mark.digest == 0; }))
    return "a GPU decodes";
  if (has_no_timestamps(source)) return "it has no times of its own";
  if (!source.clock_jumps().empty()) return "its clock jumps";
  const auto not_later = [](const FrameMark& a, const FrameMark& b) { return b.pts <= a.pts; };
  if (std::ranges::adjacent_find(pictures, not_later) != pictures.end())
    return "times of frames do not rise";
  return {};
}

/// An additional input, and the list of its pictures (FrameIndex). While the source of the input
/// reads pictures, it adds them to this list.
struct RecordedInput {
  JobPlan::AdditionalInput additional;
  const FileSource* source;
  std::shared_ptr<const FrameIndex> pictures;
};

RecordedInput record_input(const AdditionalSource& one) {
  const FileSource& source = file_source_of(one);
  return {.additional = {.name = one.name,
                         .input = path_of(source, one.input),
                         .sample = sample_digest(source),
                         .index = {}},
          .source = &source,
          .pictures = source.options().recorded_index};
}

/// A sink that writes the plan of a job when the caller calls finish(). The sink computes time
/// stamps like an encoder, but encodes no packets.
class PlanSink final : public EncodingSink {
 public:
  PlanSink(const std::string& path, FileSource& source, const SinkOptions& options)
      : EncodingSink(path, source, options), path_(path), source_(source), options_(options) {
    const SegmentOptions& segments = *options.segments;
    refuse_segments(path, source, container_, segments);
    const auto choices = choose_encoders(container_, source, options);
    options_.threads =
        threads_of(encoder_traits(*choices.front().codec), options.threads, av_cpu_count());
    OutputFileOptions file = file_options(options);
    file.overwrite = options.overwrite || is_joined(segments.folder, path);
    open(std::make_unique<OutputFile>(path, file), choices, source, options_);
    losses_.check();
    plan().facts = job_facts(source, container_, options_, *encoder_);
    for (const AdditionalSource& one : segments.additional)
      additional_.push_back(record_input(one));
  }

  std::vector<FrameRange> needed_frames() const override { return {}; }

  void write(Frame frame) override {
    (void)encoder_->times()->next(frame);
    note_losses(frame);
  }

  std::string finish_if(const std::function<bool()>& accepts) override {
    if (accepts()) finish();
    return {};
  }

 private:
  JobPlan& plan() { return *options_.segments->plan; }

  void write_end() override {}

  void commit() override {
    JobPlan& plan = this->plan();
    plan.input = path_of(source_, options_.segments->input);
    plan.output = absolute_path(path_);
    plan.segment_frames = options_.segments->frames;
    plan.threads = options_.threads;
    plan.sample = sample_digest(source_);
    plan.damage = source_.damage();
    plan.index.pictures = without_excess(source_.options().recorded_index->pictures);
    plan.index.repeat_state = without_excess(std::move(plan.index.repeat_state));
    if (plan.damage.frames > 0) plan.index.no_seek_reason = "the input is damaged";
    if (plan.index.no_seek_reason.empty())
      plan.index.no_seek_reason = no_seek_reason(source_, plan.index.pictures);
    plan.additional.clear();
    for (const RecordedInput& one : additional_) {
      JobPlan::AdditionalInput& additional = plan.additional.emplace_back(one.additional);
      additional.index.pictures = without_excess(one.pictures->pictures);
      additional.index.no_seek_reason = no_seek_reason(*one.source, additional.index.pictures);
    }
    write_plan(options_.segments->folder, plan, options_.access);
  }

  /// Removes the elements for pictures after source_.context_end() from the list `of_pictures`,
  /// which has one element for each picture. The plan then does not depend on how far the source
  /// has read ahead.
  template <class T>
  std::vector<T> without_excess(std::vector<T> of_pictures) const {
    if (source_.context_end() >= 0)
      of_pictures.resize(
          std::min(of_pictures.size(), static_cast<std::size_t>(source_.context_end()) + 1));
    return of_pictures;
  }

  std::string path_;
  FileSource& source_;
  SinkOptions options_;
  std::vector<RecordedInput> additional_;
};

}  // namespace

std::unique_ptr<MediaSink> open_plan_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options) {
  return std::make_unique<PlanSink>(path, source, options);
}

void refuse_segments(const std::string& path, const FileSource& source, const Container& container,
                     const SegmentOptions& segments) {
  const std::string& input = source.demuxer().path();
  std::error_code ignored;
  // Segments of a single frame would have consecutive IDR pictures with equal idr_pic_id, which
  // H.264 forbids (ITU-T H.264, 7.4.3).
  if (segments.frames < 2)
    throw InvalidArgument("segments of " + std::to_string(segments.frames) +
                          " frames (must be 2 at least); some hundred are typical");
  if (container.pipe)
    throw InvalidArgument("--segment-frames with standard output (a pipe cannot be continued); " +
                          std::string("give a file"));
  if (source.demuxer().sequence().empty() && !fs::is_regular_file(input, ignored))
    throw InvalidArgument("--segment-frames with the input '" + input +
                          "' (a continued job must read it again); give a file");
  for (const AdditionalSource& additional : segments.additional) {
    const Demuxer& files = file_source_of(additional).demuxer();
    if (files.sequence().empty() && !fs::is_regular_file(files.path(), ignored))
      throw InvalidArgument("--segment-frames with " + additional.name + " " + additional.input +
                            " (a continued job must read it again); give a file");
  }
  if (container.still())
    throw InvalidArgument("--segment-frames with '" + path + "' (a still picture); leave it out");
  if (container.traits->raw_frames)
    throw InvalidArgument("--segment-frames with '" + path +
                          "' (frames that are not encoded); use .mkv with --lossless");
}

}  // namespace lull::io
