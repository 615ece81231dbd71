#include "io/probe.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "core/describe.h"
#include "core/error.h"
#include "tools/commands/commands.h"
#include "tools/report/json.h"
#include "tools/wrap/layer_plan.h"

namespace lull::tools {
namespace {

std::string text_of(const Rational& r) {
  return r.den == 1 ? std::to_string(r.num) : std::to_string(r.num) + "/" + std::to_string(r.den);
}

std::string seconds(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// Returns whether the input is a stack of slices. A stack has no streams.
bool is_stack(const io::InputReport& r) { return r.streams.empty(); }

/// Returns the number of frames as text, with "or so" for an estimate.
std::string frames_text(const io::InputReport& r) {
  const std::int64_t frames = r.video.frames_estimate;
  const bool known = !r.files.empty() || r.video.still || is_stack(r);
  return frames > 0 ? std::to_string(frames) + (known ? "" : " or so") : "unknown";
}

void line(const char* name, const std::string& text) {
  if (!text.empty()) std::printf("%-9s %s\n", name, one_line(text).c_str());
}

void print_text(const io::InputReport& r, const LayerPlan& layers) {
  line("input", r.path + (r.files.empty() ? "" : ", " + std::to_string(r.files.size()) + " files"));
  line("container",
       r.video.container +
           (r.video.duration_s > 0 ? ", " + seconds(r.video.duration_s) + " s" : std::string()));
  line("frames", joined({frames_text(r), r.video.frame_rate.num > 0
                                             ? text_of(r.video.frame_rate) + " per second"
                                             : std::string()}));
  line("format", describe(r.format) + (r.alpha ? " with alpha" : "") + " (" + r.video.pixel_format +
                     ", " + r.video.codec + ")");
  if (!is_stack(r))
    line("colour", "range " + r.range + ", primaries " + r.primaries + ", transfer " + r.transfer +
                       ", matrix " + r.matrix + ", chroma " + r.chroma_location);
  if (r.aspect.num > 0 && r.aspect != Rational{1, 1}) line("aspect", text_of(r.aspect));
  if (r.field_order != "unknown") line("fields", r.field_order);
  if (r.rotation != 0) line("rotation", seconds(r.rotation) + " degrees");
  if (r.chapters > 0) line("chapters", std::to_string(r.chapters));
  line("axes", r.video.axes);
  for (const std::string& note : r.video.notes) line("note", note);
  line("layers", layers.text());
  line("output", joined({r.output, r.encoder, r.pixel_format}));
  for (const io::StreamReport& s : r.streams)
    line("stream", std::to_string(s.index) + ": " +
                       joined({s.type + " " + s.codec, s.details, s.language, s.title}) + ": " +
                       s.fate);
  for (const std::string& text : r.lost) line("lost", text);
}

const char* name_of(Layout layout) {
  return layout == Layout::gray ? "grey" : layout == Layout::yuv ? "yuv" : "rgb";
}

Json json_of(const io::StreamReport& s) {
  return {{"index", s.index}, {"type", s.type},       {"codec", s.codec}, {"language", s.language},
          {"title", s.title}, {"details", s.details}, {"fate", s.fate}};
}

void print_json(const io::InputReport& r, const LayerPlan& layers) {
  Json streams = Json::array();
  for (const io::StreamReport& stream : r.streams) streams.push_back(json_of(stream));
  Json denoised = Json::array();
  for (const io::LayerInfo& layer : layers.denoised) denoised.push_back(layer.label);
  const Json json = {{"input", r.path},
                     {"container", r.video.container},
                     {"codec", r.video.codec},
                     {"pixel_format", r.video.pixel_format},
                     {"width", r.format.width},
                     {"height", r.format.height},
                     {"layout", name_of(r.format.layout)},
                     {"bits", r.format.bits},
                     {"float", r.format.sample == SampleType::f32},
                     {"alpha", r.alpha},
                     {"still", r.video.still},
                     {"frames_estimate", count_or_null(r.video.frames_estimate)},
                     {"frame_rate", text_of(r.video.frame_rate)},
                     {"time_base", text_of(r.video.time_base)},
                     {"start", r.start_s},
                     {"duration", r.video.duration_s},
                     {"sample_aspect_ratio", text_of(r.aspect)},
                     {"field_order", r.field_order},
                     {"rotation", r.rotation},
                     {"range", r.range},
                     {"primaries", r.primaries},
                     {"transfer", r.transfer},
                     {"matrix", r.matrix},
                     {"chroma_location", r.chroma_location},
                     {"chapters", r.chapters},
                     {"files", r.files},
                     {"notes", r.video.notes},
                     {"layers_denoised", denoised},
                     {"layers_copied", layers.copied},
                     {"streams", streams},
                     {"output", r.output},
                     {"encoder", r.encoder},
                     {"output_pixel_format", r.pixel_format},
                     {"lost", r.lost}};
  std::printf("%s\n", json_text(json).c_str());
}

}  // namespace

int probe(const DenoiseOptions& options, bool json) {
  const io::SourceOptions source = source_options(options.input);
  io::SinkOptions sink;
  sink.drops = options.output.drops;
  sink.keep_times = options.input.source.keep_times;
  sink.format = options.output.format;
  io::InputReport report = io::probe(options.input.file, source, options.output.file, sink);
  if (options.input.all_videos)
    for (io::StreamReport& stream : report.streams)
      if (stream.fate == "copied" &&
          std::ranges::find(report.videos, stream.index) != report.videos.end())
        stream.fate = "denoised";
  const LayerPlan layers = plan_layers(report.layers, options.input.layers, report.keeps_layers,
                                       options.input.file, report.output);
  if (json) {
    print_json(report, layers);
  } else {
    print_text(report, layers);
  }
  return 0;
}

}  // namespace lull::tools
