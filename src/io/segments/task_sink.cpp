#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "io/demux/frame_selector.h"
#include "io/encode/encoder.h"
#include "io/jobs.h"
#include "io/segments/job_facts.h"
#include "io/segments/manifest.h"
#include "io/segments/segment_encoder.h"
#include "io/segments/shared_job.h"

namespace lull::io {
namespace {

/// Encodes some segments of a shared job. Two processes that encode the same segment write the same
/// bytes.
class TaskSink final : public MediaSink {
 public:
  TaskSink(const std::string& path, FileSource& source, const SinkOptions& options)
      : plan_(*options.segments->plan),
        folder_(options.segments->folder),
        layout_(plan_.layout()),
        unfinished_(find_unfinished(folder_, plan_, options.segments->range)),
        includes_last_segment_(unfinished_.has(layout_.segments() - 1)),
        options_(options),
        container_(container_of(path, source, options)),
        input_(source, options),
        job_(plan_.id()) {
    refuse_segments(path, source, container_, *options.segments);
    options_.threads = plan_.threads;
    Dictionary leftover;
    const auto choices = choose_encoders(container_, source, options_);
    encoder_ = open_encoder(choices, container_, source, options_, leftover);
    check_facts(plan_, source, container_, options_, *encoder_);
    encoder_name_ = encoder_->choice().codec->name;
    pixel_format_name_ = name_of(encoder_->choice().format);
    container_name_ = container_.format->name;
    times_ = encoder_->times();
    advance_times(plan_.index, source, options.segments->start_picture, *times_);
    first_frame_ = times_->frames();
    segments_.emplace(encoder_, container_, input_, options_);
    left_ = unfinished_.missing.size() + unfinished_.damaged.size();
  }

  /// Returns the ranges of frames that the sink encodes. Frame 0 is the first frame from the
  /// source.
  std::vector<FrameRange> needed_frames() const override {
    std::vector<FrameRange> ranges;
    for (std::int64_t i = 0; i < layout_.segments(); ++i) {
      if (!unfinished_.has(i)) continue;
      FrameRange range = layout_.frames_of(i);
      range.first -= first_frame_;
      range.last -= first_frame_;
      if (!ranges.empty() && ranges.back().last + 1 == range.first)
        ranges.back().last = range.last;
      else
        ranges.push_back(range);
    }
    return ranges;
  }

  void write(Frame frame) override {
    const std::int64_t number = times_->frames();
    if (number >= layout_.frames)
      throw BadData("the input continues after " + std::to_string(layout_.frames) +
                    " frames (the plan has no more); plan the job again");
    const std::int64_t segment = number / plan_.segment_frames;
    if (!unfinished_.has(segment)) {
      (void)times_->next(frame);
      return;
    }
    if (!segments_->busy())
      segments_->begin(
          std::make_unique<SegmentWriter>(segment_path(folder_, segment), job_, options_.access));
    segments_->send(frame);
    // Only finish() completes the job's last segment, because the input may have more frames than
    // the plan.
    if (number == layout_.frames_of(segment).last && number + 1 < layout_.frames) end_segment();
  }

  void finish() override {
    if (segments_->busy() && times_->frames() == layout_.frames) end_segment();
    if (left_ > 0)
      throw BadData(
          "the input ends before the segment does (it has fewer frames than when the "
          "job was planned); plan the job again");
  }

  // The process that encodes the last segment must read the input to its end, to compare the number
  // of frames with the plan.
  bool needs_no_more() const noexcept override { return left_ == 0 && !includes_last_segment_; }
  const std::string& encoder() const noexcept override { return encoder_name_; }
  const std::string& pixel_format() const noexcept override { return pixel_format_name_; }
  const std::string& container() const noexcept override { return container_name_; }
  const std::vector<std::string>& losses() const noexcept override { return none_; }
  const std::string& temporary() const noexcept override { return no_file_; }

 private:
  void end_segment() {
    (void)segments_->end();
    --left_;
  }

  const JobPlan& plan_;
  std::string folder_;
  SegmentLayout layout_;
  UnfinishedSegments unfinished_;
  bool includes_last_segment_;  // this sink encodes the last segment
  SinkOptions options_;
  Container container_;
  EncoderInput input_;
  std::string job_;
  std::unique_ptr<Encoder> encoder_;
  std::shared_ptr<FrameTimes> times_;
  std::int64_t first_frame_ = 0;
  std::optional<SegmentEncoder> segments_;
  std::atomic<std::size_t> left_ = 0;  // number of segments that are not finished
  std::string encoder_name_, pixel_format_name_, container_name_, no_file_;
  std::vector<std::string> none_;
};

}  // namespace

std::unique_ptr<MediaSink> open_task_sink(const std::string& path, FileSource& source,
                                          const SinkOptions& options) {
  return std::make_unique<TaskSink>(path, source, options);
}

void check_facts(const JobPlan& plan, const FileSource& source, const Container& container,
                 const SinkOptions& options, const Encoder& encoder) {
  std::vector<JobFact> now = job_facts(source, container, options, encoder);
  // The process that joins the segments does not decode, so this function takes the name of the
  // decoding device from the plan.
  if (options.segments->part == JobPart::join) {
    constexpr const char* name = "the decoding device";
    const auto planned = std::ranges::find(plan.facts, name, &JobFact::name);
    const auto fact = std::ranges::find(now, name, &JobFact::name);
    if (planned != plan.facts.end() && fact != now.end()) fact->value = planned->value;
  }
  const std::string what = difference(plan.facts, now);
  if (!what.empty())
    throw InvalidArgument("this is not what was planned (" + what +
                          "); use the planned options and versions, or plan the job again");
}

void advance_times(const FrameIndex& index, const FileSource& source, std::int64_t pictures,
                   FrameTimes& times) {
  const AVRational tick = source.demuxer().video().time_base;
  std::optional<FrameSelector> selector;
  if (source.selector()) selector.emplace(source.options().selection, tick);
  for (std::int64_t i = 0; i < pictures; ++i) {
    const FrameMark& mark = index.pictures.at(static_cast<std::size_t>(i));
    Frame frame;
    frame.time_base = to_rational(tick);
    frame.pts = mark.pts;
    if (selector) (void)selector->judge_frame(i, frame.pts, mark.duration);
    if (mark.kept) (void)times.next(frame);
  }
}

}  // namespace lull::io
