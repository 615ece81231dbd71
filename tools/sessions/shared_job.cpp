#include "tools/sessions/shared_job.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "core/error.h"
#include "pipeline/repeat_notes.h"
#include "tools/options/option_table.h"
#include "tools/options/plan_options.h"
#include "tools/report/json.h"

namespace lull::tools {
namespace {

/// Throws an error if the path exists but is not a regular file, because a plan can name a pipe
/// that blocks forever.
void require_file(const std::string& what, const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return;
  throw NoInput("cannot read " + what + " of the plan, '" + path +
                "' (it is not a regular file); plan the job again");
}

io::JobPlan read_plan_for_task(const std::string& folder) {
  try {
    return io::read_plan(folder);
  } catch (const IoError& error) {
    throw TryAgain(error.what());
  }
}

/// A denoiser that records the repeated frames in the plan and filters nothing. `context_end`
/// receives the index of the last picture of the job. The denoiser calls `at_end` after the last
/// frame of the input.
class IndexingDenoiser final : public Denoiser {
 public:
  IndexingDenoiser(std::unique_ptr<RepeatFinder> finder, Margin margin,
                   std::shared_ptr<io::JobPlan> plan, std::function<void(std::int64_t)> context_end,
                   std::function<void()> at_end)
      : finds_repeats_(finder != nullptr),
        notes_(std::move(finder)),
        margin_(margin),
        plan_(std::move(plan)),
        context_end_(std::move(context_end)),
        at_end_(std::move(at_end)) {}

  int latency() const noexcept override { return 0; }

  std::optional<Frame> push(Frame frame) override {
    if (finds_repeats_ && !frame.on_device) {
      notes_.note(frame);
      plan_->index.repeat_state.resize(static_cast<std::size_t>(frame.slice) + 1);
      plan_->index.repeat_state.back() = frame.repeat_state;
    }
    if (!frame.context_only)
      after_ = 0;
    else if (frame.repeat_state != RepeatState::repeats && ++after_ == margin_.after + 1)
      context_end_(frame.slice);
    frame.pixels.reset();
    frame.planes = {};
    frame.on_device.reset();
    return frame;
  }

  std::optional<Frame> drain() override {
    at_end_();
    return std::nullopt;
  }

 private:
  bool finds_repeats_;
  pipeline::RepeatNotes notes_;
  Margin margin_;
  std::shared_ptr<io::JobPlan> plan_;
  std::function<void(std::int64_t)> context_end_;
  std::function<void()> at_end_;
  int after_ = 0;  // number of frames after the last retained frame; repeated frames do not count
};

}  // namespace

DenoiseOptions with_plan(const DenoiseOptions& given) {
  const auto plan = std::make_shared<io::JobPlan>(read_plan_for_task(given.run.job.folder));
  DenoiseOptions options = options_of_plan(*plan);
  for (const io::JobPlan::AdditionalInput& input : plan->additional)
    require_file(input.name, input.input);
  options.run.job.accepted_damage = options.input.max_decode_errors;
  for (const auto& [names, value] : given.given) {
    const OptionRow* row = find_option(names);
    if (!row) throw InternalError("a given option has no row in the table");
    set_option(options, *row, value);
  }
  options.run.job.folder = given.run.job.folder;
  assign_operands(options);
  if (!options.output.file.empty())
    throw InvalidArgument("--job with the output '" + options.output.file +
                          "' (the plan names the output, and lull join writes it); leave it out");
  if (given.run.resume)
    throw InvalidArgument("--job with --resume (finished segments are always kept); " +
                          std::string("leave --resume out"));
  if (options.input.file.empty()) {
    require_file("the input", plan->input);
    options.input.file = plan->input;
  }
  options.output.file = plan->output;
  options.run.segment_frames = plan->segment_frames;
  // A process of the job needs no limit for damaged frames, because `lull plan` has already checked
  // the number of damaged frames.
  options.input.max_decode_errors = std::numeric_limits<int>::max();
  options.run.job.plan = plan;
  return options;
}

io::SinkOptions sink_options(const DenoiseOptions& options) {
  io::SinkOptions sink;
  sink.vcodec = options.output.vcodec;
  sink.crf = options.output.crf;
  sink.vopts = options.output.vopts;
  sink.pix_fmt = options.output.pix_fmt;
  sink.bits = options.output.bits;
  sink.dither = options.output.dither;
  sink.lossless = options.output.lossless;
  sink.single = options.output.keep.has_value();
  sink.overwrite = options.output.overwrite;
  sink.follow_links = options.output.follow_links;
  sink.access = options.output.access;
  sink.format = options.output.format;
  sink.datatype = options.output.datatype;
  sink.strict_metadata = options.output.strict_metadata;
  sink.drops = options.output.drops;
  sink.keep_times = options.input.source.keep_times;
  if (options.run.segment_frames > 0)
    sink.segments = io::SegmentOptions{
        .frames = options.run.segment_frames, .resume = options.run.resume, .facts = {}};
  if (sink.segments) add_part(options, *sink.segments);
  // --threads does not apply to the encoder, because the output of some encoders depends on the
  // number of threads.
  return sink;
}

std::shared_ptr<io::JobPlan> create_plan(const DenoiseOptions& options) {
  const std::string& folder = options.run.job.folder;
  std::error_code ignored;
  // This check reports an invalid folder name before lull indexes the frames. Indexing takes long,
  // because lull decodes the complete input.
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_directory(folder, ignored))
    throw CannotCreate("cannot create '" + folder + "' (a file has that name)");
  auto plan = std::make_shared<io::JobPlan>();
  plan->options = options_for_plan(options);
  return plan;
}

std::string to_json(const SharedJob& job) {
  const io::JobPlan& plan = *job.plan;
  Json facts = Json::object();
  for (const io::JobFact& fact : plan.facts) facts[one_line(fact.name)] = one_line(fact.value);
  Json additional = Json::object();
  for (const io::JobPlan::AdditionalInput& input : plan.additional)
    additional[one_line(input.name)] = input.input;
  const Json object = {{"job", job.folder},
                       {"id", plan.id()},
                       {"input", plan.input},
                       {"beside", additional},
                       {"output", plan.output},
                       {"frames", plan.frames()},
                       {"segment_frames", plan.segment_frames},
                       {"segments", plan.segments()},
                       {"last_segment", plan.segments() - 1},
                       {"margin", plan.margin},
                       {"seeks", plan.index.no_seek_reason.empty()},
                       {"facts", facts}};
  return json_text(object) + "\n";
}

bool prepare_part(SharedJob& job, const Notify& info) {
  const io::UnfinishedSegments unfinished =
      io::find_unfinished(job.folder, *job.plan, job.segments.value_or(io::FrameRange{}));
  if (unfinished.none()) {
    info("all segments are done");
    return false;
  }
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const auto* segments : {&unfinished.missing, &unfinished.damaged})
    if (!segments->empty()) first = std::min(first, segments->front());
  const io::FrameIndex& index = job.plan->index;
  job.start_picture = index.start_with_margin(job.plan->frames_of(first).first, job.plan->margin);
  if (!index.no_seek_reason.empty()) info("decoding from the start (" + index.no_seek_reason + ")");
  for (const io::JobPlan::AdditionalInput& input : job.plan->additional)
    if (!input.index.no_seek_reason.empty())
      info(input.name + " is read from its start (" + input.index.no_seek_reason + ")");
  return true;
}

void add_part(const DenoiseOptions& options, io::SegmentOptions& segments) {
  const SharedJob& job = options.run.job;
  if (job.folder.empty()) return;
  segments.folder = job.folder;
  segments.plan = job.plan;
  segments.input = options.input.file;
  segments.range = job.segments.value_or(io::FrameRange{});
  segments.start_picture = job.start_picture;
  segments.part = job.plans ? io::JobPart::plan : io::JobPart::segments;
}

void add_part(const DenoiseOptions& options, io::SourceOptions& source) {
  const SharedJob& job = options.run.job;
  if (job.folder.empty()) return;
  if (job.plans) {
    source.recorded_index = std::make_shared<io::FrameIndex>();
    return;
  }
  source.index = {job.plan, &job.plan->index};
  source.start_picture = job.start_picture;
}

std::int64_t add_part_to_side_input(const RunOptions& options, const std::string& name,
                                    io::SourceOptions& source) {
  const SharedJob& job = options.job;
  source.recorded_index.reset();
  source.index.reset();
  source.start_picture = 0;
  if (job.folder.empty()) return 0;
  if (job.plans) {
    source.recorded_index = std::make_shared<io::FrameIndex>();
    return 0;
  }
  const io::JobPlan::AdditionalInput* input = job.plan->find_additional(name);
  if (!input) return 0;  // the sink will report that the plan does not contain this input
  const bool margins = source.margins && !source.selection.all();
  const std::int64_t first = job.plan->index.frames_before(job.start_picture, margins);
  source.index = {job.plan, &input->index};
  source.start_picture = input->index.seek_point_at(first, margins);
  // After a seek, the source ignores decoding errors, because they do not prove that the file is
  // damaged. If the decoded frames differ from the frames in the plan, the run decodes the input
  // again from its start.
  source.tolerate_damage = source.start_picture > 0;
  return first - input->index.frames_before(source.start_picture, margins);
}

std::unique_ptr<Denoiser> index_frames(const DenoiseOptions& options, const ClipPlan& clip,
                                       const FrameFormat& format,
                                       std::function<void(std::int64_t)> context_end,
                                       std::function<void()> at_end) {
  pipeline::PartContext context = part_context_of(clip, format);
  io::JobPlan& plan = *options.run.job.plan;
  plan.margin = context.margin.before;
  // The plan stores the temporal radius, because a preset may have another radius in another
  // version of lull.
  if (options.method.preset && !options.method.temporal && clip.method().is_temporal())
    plan.options.emplace_back("--temporal", std::to_string(clip.method().temporal()));
  if (context.repeats && options.input.interlaced == Interlaced::fields) {
    context.repeats.reset();
    plan.index.no_seek_reason = "repeated fields are searched from the first frame on";
  }
  return std::make_unique<IndexingDenoiser>(std::move(context.repeats), context.margin,
                                            options.run.job.plan, std::move(context_end),
                                            std::move(at_end));
}

void update_facts(io::JobPlan& plan, const std::vector<io::JobFact>& facts) {
  for (const io::JobFact& fact : facts) {
    const auto entry = std::ranges::find(plan.facts, fact.name, &io::JobFact::name);
    if (entry != plan.facts.end()) entry->value = fact.value;
  }
}

}  // namespace lull::tools
