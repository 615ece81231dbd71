#include "io/probe.h"

#include <cstdio>
#include <string>

#include "core/describe.h"
#include "core/error.h"
#include "tools/commands.h"
#include "tools/json_string.h"

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

/// Slices, without any stream.
bool is_stack(const io::InputReport& r) { return r.streams.empty(); }

/// Whether the container says how many frames there are, or we know.
std::string frames_text(const io::InputReport& r) {
  const std::int64_t frames = r.video.frames_estimate;
  const bool known = !r.files.empty() || r.video.still || is_stack(r);
  return frames > 0 ? std::to_string(frames) + (known ? "" : " or so") : "unknown";
}

void line(const char* name, const std::string& text) {
  if (!text.empty()) std::printf("%-9s %s\n", name, one_line(text).c_str());
}

void print_text(const io::InputReport& r) {
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
  for (const std::string& note : r.video.notes) line("note", note);
  line("output", joined({r.output, r.encoder, r.pixel_format}));
  for (const io::StreamReport& s : r.streams)
    line("stream", std::to_string(s.index) + ": " +
                       joined({s.type + " " + s.codec, s.details, s.language, s.title}) + ": " +
                       s.fate);
  for (const std::string& text : r.lost) line("lost", text);
}

/// One JSON object, member by member (RFC 8259).
class Json {
 public:
  void begin(const char* key, char bracket) {
    member(key);
    text_ += bracket;
    first_ = true;
  }
  void end(char bracket) {
    text_ += bracket;
    first_ = false;
  }
  void string(const char* key, const std::string& value) {
    member(key);
    text_ += json_string(value);
  }
  void number(const char* key, double value) {
    member(key);
    char text[64];
    std::snprintf(text, sizeof text, "%.15g", value);
    text_ += text;
  }
  void boolean(const char* key, bool value) {
    member(key);
    text_ += value ? "true" : "false";
  }
  /// null for 0.
  void count(const char* key, std::int64_t value) {
    member(key);
    text_ += value > 0 ? std::to_string(value) : "null";
  }
  void strings(const char* key, const std::vector<std::string>& values) {
    begin(key, '[');
    for (const std::string& value : values) string("", value);
    end(']');
  }
  const std::string& text() const { return text_; }

 private:
  void member(const char* key) {
    if (!first_) text_ += ',';
    first_ = false;
    if (*key == 0) return;
    text_ += json_string(key);
    text_ += ':';
  }
  std::string text_;
  bool first_ = true;
};

const char* name_of(Layout layout) {
  return layout == Layout::gray ? "grey" : layout == Layout::yuv ? "yuv" : "rgb";
}

void print_json(const io::InputReport& r) {
  Json json;
  json.begin("", '{');
  json.string("input", r.path);
  json.string("container", r.video.container);
  json.string("codec", r.video.codec);
  json.string("pixel_format", r.video.pixel_format);
  json.number("width", r.format.width);
  json.number("height", r.format.height);
  json.string("layout", name_of(r.format.layout));
  json.number("bits", r.format.bits);
  json.boolean("float", r.format.sample == SampleType::f32);
  json.boolean("alpha", r.alpha);
  json.boolean("still", r.video.still);
  json.count("frames_estimate", r.video.frames_estimate);
  json.string("frame_rate", text_of(r.video.frame_rate));
  json.string("time_base", text_of(r.video.time_base));
  json.number("start", r.start_s);
  json.number("duration", r.video.duration_s);
  json.string("sample_aspect_ratio", text_of(r.aspect));
  json.string("field_order", r.field_order);
  json.number("rotation", r.rotation);
  json.string("range", r.range);
  json.string("primaries", r.primaries);
  json.string("transfer", r.transfer);
  json.string("matrix", r.matrix);
  json.string("chroma_location", r.chroma_location);
  json.number("chapters", r.chapters);
  json.strings("files", r.files);
  json.strings("notes", r.video.notes);
  json.begin("streams", '[');
  for (const io::StreamReport& s : r.streams) {
    json.begin("", '{');
    json.number("index", s.index);
    json.string("type", s.type);
    json.string("codec", s.codec);
    json.string("language", s.language);
    json.string("title", s.title);
    json.string("details", s.details);
    json.string("fate", s.fate);
    json.end('}');
  }
  json.end(']');
  json.string("output", r.output);
  json.string("encoder", r.encoder);
  json.string("output_pixel_format", r.pixel_format);
  json.strings("lost", r.lost);
  json.end('}');
  std::printf("%s\n", json.text().c_str());
}

}  // namespace

int probe(const DenoiseOptions& options, bool json) {
  const io::SourceOptions source = source_options(options);
  io::SinkOptions sink;
  sink.format = options.output_format;
  const io::InputReport report = io::probe(options.input, source, options.output, sink);
  if (json) {
    print_json(report);
  } else {
    print_text(report);
  }
  return 0;
}

}  // namespace lull::tools
