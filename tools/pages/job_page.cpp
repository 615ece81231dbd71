#include "tools/pages/job_page.h"

#include <algorithm>

#include "core/version.h"
#include "tools/html/chart.h"
#include "tools/html/markup.h"
#include "tools/html/page.h"
#include "tools/pages/sections.h"

namespace lull::tools {
namespace {

using Status = io::SegmentState::Status;

const char* state_name(Status status) {
  return status == Status::done ? "done" : status == Status::damaged ? "damaged" : "missing";
}

std::int64_t count_of(const io::JobState& state, Status status) {
  return std::ranges::count(state.segments, status, &io::SegmentState::status);
}

/// Returns the numbers of the segments with the given status, for example "3, 7-9".
std::string numbers_of(const io::JobState& state, Status status) {
  std::string text;
  const auto size = static_cast<std::int64_t>(state.segments.size());
  for (std::int64_t i = 0; i < size; ++i) {
    if (state.segments[i].status != status) continue;
    std::int64_t last = i;
    while (last + 1 < size && state.segments[last + 1].status == status) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(i) +
            (last > i ? "-" + std::to_string(last) : "");
    i = last;
  }
  return text;
}

/// Returns a map with one square per segment. If there are more than 2000 segments, each square
/// represents a group of segments.
std::string map_of(const io::JobState& state) {
  constexpr std::size_t columns = 50, max_cells = 2000;
  constexpr int cell = 18;
  const std::size_t each = (state.segments.size() + max_cells - 1) / max_cells;
  const std::size_t cells = (state.segments.size() + each - 1) / each;
  const std::size_t rows = (cells + columns - 1) / columns;
  std::string svg = printed("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"segments\">\n",
                            static_cast<int>(columns) * cell, static_cast<int>(rows) * cell);
  for (std::size_t i = 0; i < cells; ++i) {
    Status shown = Status::done;  // worst status of the segments that this square stands for
    const std::size_t end = std::min((i + 1) * each, state.segments.size());
    for (std::size_t k = i * each; k < end; ++k)
      if (state.segments[k].status != Status::done && shown != Status::damaged)
        shown = state.segments[k].status;
    svg += printed("<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>",
                   state_name(shown), static_cast<int>(i % columns) * cell,
                   static_cast<int>(i / columns) * cell, cell - 2, cell - 2) +
           (each == 1 ? "segment " + std::to_string(i)
                      : "segments " + std::to_string(i * each) + "-" + std::to_string(end - 1)) +
           ": " + state_name(shown) + "</title></rect>\n";
  }
  return svg + "</svg>\n<p class=\"dim\">A square is " +
         (each == 1 ? std::string("a segment") : std::to_string(each) + " segments") +
         ": green done, grey missing, red damaged.</p>\n";
}

/// Returns a chart of the number of finished segments over time.
std::string progress_chart(const io::JobState& state) {
  std::vector<std::int64_t> times;
  for (const io::SegmentState& segment : state.segments)
    if (segment.status == Status::done) times.push_back(segment.finished);
  if (times.size() < 2) return {};
  std::ranges::sort(times);
  const std::int64_t start = std::min(state.begun, times.front());
  const auto length = static_cast<double>(std::max<std::int64_t>(times.back() - start, 1));
  const bool in_hours = length > 3 * 3600;
  const double unit = in_hours ? 3600 : 60;
  Curve curve{"", "#3aa655", {{0, 0}}};
  for (std::size_t i = 0; i < times.size(); ++i)
    curve.points.emplace_back(static_cast<double>(times[i] - start) / unit,
                              static_cast<double>(i + 1));
  return svg_of({.title = "segments done",
                 .axis = std::string(in_hours ? "hours" : "minutes") + " after the start",
                 .right = length / unit,
                 .top = static_cast<double>(state.segments.size()),
                 .curves = {std::move(curve)},
                 .width = 860});
}

std::string segments_table(const io::JobState& state) {
  constexpr std::size_t max_cells = 500;
  std::vector<Cells> rows;
  for (std::size_t i = 0; i < std::min(state.segments.size(), max_cells); ++i) {
    const io::SegmentState& segment = state.segments[i];
    const char* kind = segment.status == Status::done      ? "yes"
                       : segment.status == Status::damaged ? "no"
                                                           : "dim";
    rows.push_back(
        {std::to_string(i),
         std::to_string(segment.frames.first) + "-" + std::to_string(segment.frames.last),
         std::string("<span class=\"") + kind + "\">" + state_name(segment.status) + "</span>",
         segment.status == Status::missing ? "" : bytes_text(segment.bytes),
         time_text(segment.finished)});
  }
  std::string html = html_table({"segment", "frames", "", "size", "finished"}, rows);
  if (state.segments.size() > max_cells)
    html += "<p>The first " + std::to_string(max_cells) + " of " +
            std::to_string(state.segments.size()) + ".</p>\n";
  return html;
}

void add_work(Page& page, const io::JobState& state, const std::string& folder) {
  std::string html;
  for (const Status status : {Status::missing, Status::damaged})
    if (const std::string numbers = numbers_of(state, status); !numbers.empty())
      html += std::string("<p class=\"no\">") +
              (status == Status::missing ? "Missing" : "Damaged") + ": " + escaped(numbers) +
              "</p>\n";
  if (!html.empty() && state.plan)
    html += "<p>lull denoise --job " + escaped(folder) + " makes the missing segments.</p>\n";
  if (!state.plan)
    html +=
        "<p>This is the job of one process; its number of segments is not known in advance. lull "
        "denoise with --resume continues it.</p>\n";
  if (!state.segments.empty()) html += map_of(state) + progress_chart(state);
  page.add("Progress", html);
  if (!state.segments.empty()) page.add("Segments", segments_table(state));
}

}  // namespace

std::string job_page(const io::JobState& state, const std::string& folder) {
  const std::int64_t done = count_of(state, Status::done);
  const auto all = static_cast<std::int64_t>(state.segments.size());
  std::int64_t bytes = 0, frames = 0;
  for (const io::SegmentState& segment : state.segments)
    if (segment.status == Status::done)
      bytes += segment.bytes, frames += segment.frames.last - segment.frames.first + 1;
  Page page("Job " + folder);
  Facts tiles{
      {"segments done", std::to_string(done) + (state.plan ? " of " + std::to_string(all) : "")},
      {"frames done",
       std::to_string(frames) + (state.plan ? " of " + std::to_string(state.plan->frames()) : "")},
      {"size of the segments", bytes_text(bytes)},
      {"output", state.joined ? "joined" : "not joined"}};
  page.add_tiles(tiles);
  add_work(page, state, folder);
  for (const NoiseRecord& noise : noise_among(state.facts, folder))
    page.add("Estimated noise", noise_section(noise));
  Facts files;
  if (state.plan) {
    files = {{"input", state.plan->input},
             {"output", state.plan->output},
             {"job", state.plan->id()},
             {"margin", std::to_string(state.plan->margin) + " frames"},
             {"reading", state.plan->index.no_seek_reason.empty()
                             ? "parts are read by seeking"
                             : "from the start: " + state.plan->index.no_seek_reason}};
    for (const io::JobPlan::AdditionalInput& one : state.plan->additional)
      files.emplace_back(one.name, one.input);
    if (state.plan->damage.frames > 0)
      files.emplace_back("accepted damage", std::to_string(state.plan->damage.frames) +
                                                " frames, " + state.plan->damage.first);
    if (!state.plan->options.empty()) page.add("Options", facts_table(state.plan->options));
  }
  files.emplace_back("started", time_text(state.begun));
  files.emplace_back("page written by", "lull " + std::string(version));
  page.add("Files", facts_table(files));
  page.add("Settings of the job", facts_table(plain_facts(state.facts)));
  return page.html();
}

}  // namespace lull::tools
