#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "io/files/output_file.h"
#include "io/jobs.h"
#include "io/segments/job_text.h"
#include "io/segments/manifest.h"
#include "io/segments/segment_file.h"
#include "io/text_file.h"

namespace lull::io {
namespace {

namespace fs = std::filesystem;

constexpr int plan_format = 1;
constexpr std::string_view plan_head = "lull plan 1\n";

// Upper limits of the numbers in a plan. Within these limits, sums and products of two numbers do
// not overflow.
constexpr std::int64_t max_ticks = std::int64_t{1} << 61;
constexpr int max_margin = 1 << 20;
constexpr std::int64_t max_damage = std::int64_t{1} << 30;

std::string plan_path(const std::string& folder) { return folder + "/plan"; }

/// Returns the letters of a frame in a plan; "-" if there are none. "k" marks a keyframe, and "o" a
/// frame outside the selection. "f", "s" and "r" mark the repeat states `independent`,
/// `shares_noise` and `repeats`.
std::string flags_of(const FrameMark& mark, RepeatState repeat_state) {
  std::string text = mark.key ? "k" : "";
  if (!mark.kept) text += 'o';
  if (repeat_state == RepeatState::independent) text += 'f';
  if (repeat_state == RepeatState::shares_noise) text += 's';
  if (repeat_state == RepeatState::repeats) text += 'r';
  return text.empty() ? "-" : text;
}

bool read_flags(std::string_view text, FrameMark& mark, RepeatState& repeat_state) {
  for (const char c : text) {
    if (c == 'k')
      mark.key = true;
    else if (c == 'o')
      mark.kept = false;
    else if (c == 'f')
      repeat_state = RepeatState::independent;
    else if (c == 's')
      repeat_state = RepeatState::shares_noise;
    else if (c == 'r')
      repeat_state = RepeatState::repeats;
    else if (c != '-')
      return false;
  }
  return true;
}

bool read_plan_line(std::string_view line, JobPlan& plan) {
  LineParser parser(line);
  const std::string_view kind = parser.word();
  // In a plan, the line of an additional input precedes the lines of its frames. Lines of frames
  // before the first additional input belong to the main input.
  FrameIndex& index = plan.additional.empty() ? plan.index : plan.additional.back().index;
  if (kind == "frame") {
    FrameMark& mark = index.pictures.emplace_back();
    mark.pts = parser.time();
    mark.duration = parser.time();
    mark.digest = parser.number<std::uint64_t>();
    if (std::abs(mark.pts) > max_ticks || mark.duration < 0 || mark.duration > max_ticks)
      return false;
    return read_flags(parser.word(), mark, index.repeat_state.emplace_back()) && parser.done();
  }
  if (kind == "option" || kind == "fact") {
    std::string name = parser.unescaped(), value = parser.unescaped();
    if (kind == "fact")
      plan.facts.push_back({std::move(name), std::move(value)});
    else
      plan.options.emplace_back(std::move(name), std::move(value));
  } else if (kind == "input") {
    plan.input = parser.unescaped();
  } else if (kind == "output") {
    plan.output = parser.unescaped();
  } else if (kind == "sample") {
    plan.sample = parser.unescaped();
  } else if (kind == "segment-frames") {
    plan.segment_frames = parser.number<int>();
  } else if (kind == "threads") {
    plan.threads = parser.number<int>();
    if (plan.threads > max_threads) return false;
  } else if (kind == "margin") {
    plan.margin = parser.number<int>();
    if (plan.margin > max_margin) return false;
  } else if (kind == "damage") {
    plan.damage.frames = parser.number<std::int64_t>();
    if (plan.damage.frames > max_damage) return false;
    plan.damage.first = parser.unescaped();
  } else if (kind == "from-start") {
    index.no_seek_reason = parser.unescaped();
  } else if (kind == "beside") {
    JobPlan::AdditionalInput& additional = plan.additional.emplace_back();
    additional.name = parser.unescaped();
    additional.input = parser.unescaped();
    additional.sample = parser.unescaped();
  } else {
    return false;
  }
  return parser.done();
}

std::string text_of(const FrameIndex& index) {
  std::string text;
  if (!index.no_seek_reason.empty()) text += "from-start " + escaped(index.no_seek_reason) + "\n";
  for (std::size_t i = 0; i < index.pictures.size(); ++i) {
    const FrameMark& mark = index.pictures[i];
    const RepeatState repeat_state =
        i < index.repeat_state.size() ? index.repeat_state[i] : RepeatState::unknown;
    text += "frame " + std::to_string(mark.pts) + " " + std::to_string(mark.duration) + " " +
            std::to_string(mark.digest) + " " + flags_of(mark, repeat_state) + "\n";
  }
  return text;
}

/// Returns the numbers of an increasing list as a string such as "3, 7-9".
std::string ranges_of(const std::vector<std::int64_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (end > i) text += "-" + std::to_string(numbers[end]);
    i = end + 1;
  }
  return text;
}

std::string sentence(const std::vector<std::int64_t>& numbers, const std::string& what) {
  if (numbers.empty()) return {};
  const bool one = numbers.size() == 1;
  return (one ? "segment " : "segments ") + ranges_of(numbers) + (one ? " is " : " are ") + what;
}

}  // namespace

bool JobPlan::operator==(const JobPlan& other) const { return to_text(*this) == to_text(other); }

std::string JobPlan::id() const { return job_id(facts, threads); }

const JobPlan::AdditionalInput* JobPlan::find_additional(std::string_view name) const {
  const auto one = std::ranges::find(additional, name, &AdditionalInput::name);
  return one == additional.end() ? nullptr : &*one;
}

FrameRange SegmentLayout::frames_of(std::int64_t segment) const {
  const std::int64_t first = segment * segment_frames;
  return {first, std::min(first + segment_frames, frames) - 1};
}

std::string to_text(const JobPlan& plan) {
  std::string text(plan_head);
  for (const auto& [name, value] : plan.options)
    text += "option " + escaped(name) + " " + escaped(value) + "\n";
  text += "input " + escaped(plan.input) + "\noutput " + escaped(plan.output) + "\nsample " +
          escaped(plan.sample) + "\nsegment-frames " + std::to_string(plan.segment_frames) +
          "\nthreads " + std::to_string(plan.threads) + "\nmargin " + std::to_string(plan.margin) +
          "\n";
  for (const auto& [name, value] : plan.facts)
    text += "fact " + escaped(name) + " " + escaped(value) + "\n";
  if (plan.damage.frames > 0)
    text +=
        "damage " + std::to_string(plan.damage.frames) + " " + escaped(plan.damage.first) + "\n";
  text += text_of(plan.index);
  for (const JobPlan::AdditionalInput& one : plan.additional)
    text += "beside " + escaped(one.name) + " " + escaped(one.input) + " " + escaped(one.sample) +
            "\n" + text_of(one.index);
  return with_checksum(text);
}

std::optional<JobPlan> parse_plan(std::string_view text) {
  JobPlan plan;
  const auto read = [&](std::string_view line) { return read_plan_line(line, plan); };
  if (!read_checked_lines(text, plan_head, read) || plan.segment_frames < 1) return std::nullopt;
  return plan;
}

std::string contradiction_in(const JobPlan& plan) {
  if (!plan.input.starts_with('/')) return "it names no input by its path from the root";
  if (!plan.output.starts_with('/')) return "it names no output by its path from the root";
  if (plan.sample.empty()) return "it does not identify the input";
  if (plan.facts.empty()) return "it has no facts";
  for (const JobFact& fact : plan.facts)
    if (fact.name == "--segment-frames" && fact.value != std::to_string(plan.segment_frames))
      return "its segments have two lengths";
  const std::int64_t frames = plan.frames();
  if (frames == 0) return "it has no frames";
  for (const JobPlan::AdditionalInput& one : plan.additional) {
    if (!one.input.starts_with('/')) return one.name + " is no path from the root";
    if (std::ssize(one.index.pictures) < frames)
      return one.name + " has fewer frames than the input";
  }
  return {};
}

JobPlan read_plan(const std::string& folder) {
  std::error_code ignored;
  const std::string path = plan_path(folder);
  if (!fs::exists(path, ignored))
    throw NoInput("no plan in '" + folder + "' (lull plan makes one); name the folder of a job");
  const std::string text = read_text(path, max_job_bytes);
  std::optional<JobPlan> plan = parse_plan(text);
  const std::string problem =
      plan ? contradiction_in(*plan) : why_unreadable(text, "plan", plan_format);
  if (!problem.empty())
    throw BadData("'" + path + "' cannot be used as a plan (" + problem + "); plan the job again");
  return *std::move(plan);
}

void write_plan(const std::string& folder, const JobPlan& plan, const Access& access) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) throw CannotCreate("cannot create '" + folder + "' (" + code.message() + ")");
  sync_folder_of(folder);
  const std::string text = to_text(plan), path = plan_path(folder);
  if (text.size() > max_job_bytes)
    throw CannotCreate("cannot create '" + path + "' (a plan of so many frames is too large); " +
                       "plan parts of the input with --frames");
  try {
    write_text(path, text, {.access = access, .follow_links = false});
  } catch (const CannotCreate&) {
    // After this process checked the folder, another process may have written a plan. If both plans
    // are equal, there is no error.
    const std::string there = read_job_text(path);
    if (there == text) return;
    if (there.empty()) throw;
    const std::optional<JobPlan> other = parse_plan(there);
    const std::string what = other ? difference(other->facts, plan.facts) : "it is damaged";
    throw CannotCreate("'" + folder + "' holds another plan (" +
                       (what.empty() ? "of other names or frames" : what) +
                       "); give another folder, or remove it");
  }
}

bool UnfinishedSegments::has(std::int64_t segment) const {
  return std::ranges::binary_search(missing, segment) ||
         std::ranges::binary_search(damaged, segment);
}

std::string UnfinishedSegments::text() const {
  const std::string first = sentence(missing, "missing"), second = sentence(damaged, "damaged");
  return first + (first.empty() || second.empty() ? "" : ", ") + second;
}

UnfinishedSegments find_unfinished(const std::string& folder, const JobPlan& plan,
                                   FrameRange segments, SegmentCheck check) {
  const SegmentLayout layout = plan.layout();
  const std::int64_t count = layout.segments();
  segments.last =
      std::min(segments.last, segments.last == FrameRange{}.last ? count - 1 : segments.last);
  if (segments.first > segments.last || segments.last >= count)
    throw InvalidArgument(
        "--segment " + std::to_string(segments.first) +
        (segments.last != segments.first ? "-" + std::to_string(segments.last) : "") +
        " (the job in '" + folder + "' has " + std::to_string(count) +
        ", counted from 0); give one of them");
  UnfinishedSegments undone;
  const std::string id = plan.id();
  std::error_code ignored;
  for (std::int64_t i = segments.first; i <= segments.last; ++i) {
    const std::string path = segment_path(folder, i);
    const FrameRange frames = layout.frames_of(i);
    const std::optional<SegmentRecord> record =
        check == SegmentCheck::all ? read_record(path, id) : read_unverified_record(path, id);
    if (record && record->frames == frames.last - frames.first + 1) continue;
    (fs::exists(path, ignored) ? undone.damaged : undone.missing).push_back(i);
  }
  return undone;
}

bool is_joined(const std::string& folder, const std::string& output) {
  const std::optional<Manifest> result = parse_manifest(read_job_text(folder + "/result"));
  return result && result->result && identity_of(resolve_links(output)) == result->result;
}

}  // namespace lull::io
