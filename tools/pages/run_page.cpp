#include "tools/pages/run_page.h"

#include <algorithm>
#include <cmath>

#include "core/version.h"
#include "tools/html/chart.h"
#include "tools/html/markup.h"
#include "tools/html/page.h"
#include "tools/noise/noise_text.h"
#include "tools/options/suggestion.h"

namespace lull::tools {
namespace {

std::string short_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string kind_text(const FrameFormat& format) {
  const char* layouts[] = {"grey", "YUV", "RGB"};
  return std::string(layouts[static_cast<int>(format.layout)]) + ", " +
         (format.sample == SampleType::f32 ? "floats" : std::to_string(format.bits) + " bits");
}

double psnr_of(const std::array<double, 3>& sums, const ReferenceSums& reference, int plane) {
  const double mse = sums[plane] / static_cast<double>(reference.frames);
  return 10 * std::log10(reference.peak * reference.peak / mse);
}

/// Returns one PSNR over the samples of all planes.
double psnr_of_all(const std::array<double, 3>& sums, const ReferenceSums& reference,
                   const FrameFormat& format) {
  double mse = 0, samples = 0;
  for (int i = 0; i < format.planes(); ++i) {
    const double count = static_cast<double>(format.plane_width(i)) * format.plane_height(i);
    mse += count * sums[i], samples += count;
  }
  mse /= samples * static_cast<double>(reference.frames);
  return 10 * std::log10(reference.peak * reference.peak / mse);
}

std::string pictures_section(const RunRecord& record, const RunFacts& facts) {
  constexpr const char* axes = "zyx";
  const std::string times = record.factor() == 1 ? "" : printed(", %d-fold", record.factor());
  const std::array<std::string, 3> names{"before", "after", "removed" + times};
  const Part& part = record.part();
  std::string html =
      "<p>The slider, which also follows the arrow keys, goes from the frame before to the frame "
      "after "
      "and to the residual, where grey is no difference. If outlines are visible there, more "
      "than "
      "noise was removed.</p>\n";
  const std::vector<ShownFrame> cuts = record.shown_cuts();
  for (std::size_t i = 0; i < cuts.size(); ++i)
    html +=
        slider_of(cuts[i].pictures, names,
                  std::string("cut across ") + axes[i] + " at " + std::to_string(cuts[i].number));
  const bool is_complete =
      part.width == record.format().width && part.height == record.format().height;
  for (const ShownFrame& frame : record.shown_frames()) {
    std::string caption = (facts.stack ? "slice " : "frame ") + std::to_string(frame.number);
    if (!facts.stack && frame.time_s > 0) caption += printed(", at %.3f s", frame.time_s);
    if (!is_complete)
      caption += printed(": %dx%d samples in the middle of %dx%d", part.width, part.height,
                         record.format().width, record.format().height);
    html += slider_of(frame.pictures, names, caption);
  }
  return html;
}

/// Returns an upper limit of the axis of frame numbers that gives integer tick labels.
double end_of(const std::vector<FrameNote>& notes) {
  const std::int64_t length = std::max<std::int64_t>(notes.back().number - notes.front().number, 1);
  return static_cast<double>(notes.front().number + (length + 3) / 4 * 4);
}

/// Returns a chart by frame number: the noise level of the scene, and the level of the removed
/// noise.
Chart levels_chart(const RunRecord& record, const RunFacts& facts) {
  const FrameFormat& format = record.format();
  const std::vector<FrameNote>& notes = record.notes();
  const double unit = facts.unit > 0 ? facts.unit : 1;
  Chart chart{.title = facts.unit > 0 ? "by frame, in the file's units" : "by frame, 8-bit levels",
              .axis = facts.stack ? "slice" : "frame",
              .left = static_cast<double>(notes.front().number),
              .right = end_of(notes),
              .width = 860};
  for (int i = 0; i < format.planes(); ++i) {
    Curve removed{std::string("removed ") + plane_name_of(format.layout, i),
                  plane_colour(format.layout, i),
                  {}};
    for (const FrameNote& note : notes)
      removed.points.emplace_back(static_cast<double>(note.number), unit * note.removed[i]);
    chart.curves.push_back(std::move(removed));
  }
  Curve found{
      facts.origin != NoiseOrigin::stated ? "estimated noise" : "given noise", "#b05cd6", {}};
  std::size_t scene = notes.front().scene;
  for (const FrameNote& note : notes) {
    if (note.scene != scene) chart.marks.push_back(static_cast<double>(note.number));
    scene = note.scene;
    // The chart shows the noise level of the first plane. For RGB, the first plane is R, so the
    // level differs from the luma level in the noise section of the page.
    const SceneNoise& noise = record.noise().scenes[std::min(scene, record.scenes() - 1)];
    const double level =
        noise.volume ? static_cast<double>(noise.volume->level)
                     : static_cast<double>(noise.estimate.noise.plane(0).level_in_samples());
    found.points.emplace_back(static_cast<double>(note.number), unit * level);
  }
  chart.curves.push_back(std::move(found));
  return chart;
}

Chart psnr_chart(const RunRecord& record, const RunFacts& facts) {
  Curve before{"before", "#8a8a8a", {}}, after{"after", "#3b82f6", {}};
  double min_value = 1e9, max_value = 0;
  for (const FrameNote& note : record.notes()) {
    for (const double value : {note.psnr_before, note.psnr_after})
      if (std::isfinite(value) && value > 0)
        min_value = std::min(min_value, value), max_value = std::max(max_value, value);
    before.points.emplace_back(static_cast<double>(note.number), note.psnr_before);
    after.points.emplace_back(static_cast<double>(note.number), note.psnr_after);
  }
  const std::vector<FrameNote>& notes = record.notes();
  return {.title = "PSNR against the reference, dB",
          .axis = facts.stack ? "slice" : "frame",
          .left = static_cast<double>(notes.front().number),
          .right = end_of(notes),
          .bottom = std::floor(std::min(min_value, max_value)) - 1,
          .top = std::ceil(max_value) + 1,
          .curves = {std::move(before), std::move(after)},
          .width = 860};
}

/// Returns the chart of the load of each pipeline stage. For each interval between two records, the
/// load is the share of time in which the stage was busy.
Chart load_chart(const RunRecord& record) {
  const std::vector<LoadNote>& load = record.load();
  constexpr const char* colours[] = {"#3b82f6", "#e0803a", "#3aa655"};
  constexpr std::size_t max_points = 100;
  const std::size_t step = std::max<std::size_t>(load.size() / max_points, 1);
  Chart chart{.title = "share of time in which each stage was busy, %",
              .axis = "seconds",
              .left = 0,
              .right = std::max(load.back().seconds, 1e-3),
              .bottom = 0,
              .top = 100,
              .width = 860};
  for (int stage = 0; stage < pipeline::stages; ++stage) {
    Curve curve{pipeline::stage_name(static_cast<pipeline::Stage>(stage)), colours[stage], {}};
    LoadNote last;
    for (std::size_t i = step - 1; i < load.size(); i += step) {
      const double time = load[i].seconds - last.seconds;
      const double share = time > 0 ? (load[i].busy[stage] - last.busy[stage]) / time : 0;
      curve.points.emplace_back(last.seconds, 100 * std::clamp(share, 0.0, 1.0));
      curve.points.emplace_back(load[i].seconds, 100 * std::clamp(share, 0.0, 1.0));
      last = load[i];
    }
    chart.curves.push_back(std::move(curve));
  }
  return chart;
}

std::string reference_table(const RunRecord& record) {
  const ReferenceSums& sums = record.reference();
  const FrameFormat& format = record.format();
  std::vector<Cells> rows;
  const auto row = [&](const std::string& name, double before, double after) {
    rows.push_back({name, number_text("%.2f dB", before), number_text("%.2f dB", after),
                    number_text("%+.2f dB", after - before)});
  };
  for (int i = 0; i < format.planes(); ++i)
    row(plane_name_of(format.layout, i), psnr_of(sums.before, sums, i),
        psnr_of(sums.after, sums, i));
  if (format.planes() > 1)
    row("all samples", psnr_of_all(sums.before, sums, format),
        psnr_of_all(sums.after, sums, format));
  return html_table({"PSNR", "before", "after", "gain"}, rows);
}

/// Returns the expected noise of the first scene. A clip with constant noise has only one scene.
const PlaneNoise& expected_of(const RunRecord& record) { return record.expected().plane(); }

std::string title_of(const RunFacts& facts) { return short_name(facts.input) + " denoised"; }

void add_tiles_of(Page& page, const RunRecord& record, const pipeline::PipelineStats& stats,
                  std::int64_t damaged, const ResidualVerdict& verdict, const RunFacts& facts) {
  const FrameFormat& format = record.format();
  Facts tiles{{facts.stack ? "slices" : "frames", std::to_string(stats.frames)},
              {"per second", number_text("%.2f", stats.fps())},
              {kind_text(format), printed("%dx%d", format.width, format.height)},
              {"lull " + std::string(version), joined(facts.devices)},
              {"looks like noise", name_of(verdict.answer)}};
  if (stats.skipped > 0)
    tiles.emplace_back("of these, by an earlier run", std::to_string(stats.skipped));
  if (damaged > 0) tiles.emplace_back("damaged frames", std::to_string(damaged));
  if (record.reference().frames > 0)
    tiles.emplace_back(
        "PSNR after",
        number_text("%.2f dB", psnr_of_all(record.reference().after, record.reference(), format)));
  page.add_tiles(tiles);
}

}  // namespace

std::string run_page(const RunRecord& record, const pipeline::PipelineStats& stats,
                     std::int64_t damaged_frames, const RunFacts& facts) {
  Page page(title_of(facts));
  const ResidualVerdict verdict =
      assess_residual(record.findings(), expected_of(record), facts.origin);
  add_tiles_of(page, record, stats, damaged_frames, verdict, facts);
  if (!facts.notes.empty()) {
    std::string html;
    for (const std::string& note : facts.notes) html += "<p>" + escaped(note) + "</p>\n";
    page.add("Notes", html);
  }
  if (record.frames() > 0) page.add("Before, after, removed", pictures_section(record, facts));
  page.add("The residual", residual_section(record.findings(), expected_of(record), verdict));
  if (!facts.series.empty()) page.add("The series", facts.series);
  if (record.reference().frames > 0) {
    page.add("Comparison with " + short_name(facts.reference),
             reference_table(record) + svg_of(psnr_chart(record, facts)));
  }
  page.add(facts.origin != NoiseOrigin::stated ? "Estimated noise" : "Given noise",
           noise_section(record.noise()));
  if (record.notes().size() > 1) {
    std::string html = svg_of(levels_chart(record, facts));
    if (record.scenes() > 1) html += "<p class=\"dim\">Dashed lines: a new scene begins.</p>\n";
    page.add("Frame by frame", html);
  }
  if (record.load().size() > 1) page.add("Load of the stages", svg_of(load_chart(record)));
  page.add("Options", facts.given.empty() ? "<p>No options except the file names.</p>\n"
                                          : facts_table(facts.given));
  page.add("Parameters", facts_table(facts.parameters));
  page.add("Files and versions", facts_table(facts.versions));
  return page.html();
}

}  // namespace lull::tools
