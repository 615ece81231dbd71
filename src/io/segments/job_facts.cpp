#include "io/segments/job_facts.h"

extern "C" {
#include <libavutil/cpu.h>
}

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "core/version.h"
#include "io/digest.h"
#include "io/files/sha256.h"
#include "io/jobs.h"

namespace lull::io {
namespace {

constexpr std::string_view input_fact = "the input";

std::int64_t add_file(const std::string& path, Sha256& digest) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw NoInput("cannot open '" + path + "'");
  std::vector<char> block(1 << 20);
  std::int64_t bytes = 0;
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    digest.add(block.data(), static_cast<std::size_t>(file.gcount()));
    bytes += file.gcount();
  }
  return bytes;
}

std::string fingerprint(const Demuxer& input) {
  Sha256 digest;
  std::int64_t bytes = 0;
  if (input.sequence().empty()) {
    bytes = add_file(input.path(), digest);
    return std::to_string(bytes) + " bytes, SHA-256 " + digest.take();
  }
  for (const SequenceFile& file : input.sequence()) bytes += add_file(file.path, digest);
  return std::to_string(input.sequence().size()) + " files, " + std::to_string(bytes) +
         " bytes, SHA-256 " + digest.take();
}

std::vector<std::string> files_of(const Demuxer& input) {
  std::vector<std::string> files;
  for (const SequenceFile& file : input.sequence()) files.push_back(file.path);
  if (files.empty()) files.push_back(input.path());
  return files;
}

/// Returns a string that identifies the content of an input: size and checksum. For
/// JobPart::segments, a checksum would take too long, so the function computes a digest of some
/// blocks. If the digest equals `planned_sample`, the input has not changed, and the function
/// returns the string from the plan. Otherwise, the function returns the digest.
std::string fingerprint(const FileSource& source, const SegmentOptions& segments,
                        std::string_view name, const std::string& planned_sample) {
  if (segments.part != JobPart::segments) return fingerprint(source.demuxer());
  const std::string sample = sample_digest(source);
  if (sample != planned_sample) return sample;
  const auto& facts = segments.plan->facts;
  const auto fact = std::ranges::find(facts, name, &JobFact::name);
  return fact == facts.end() ? "" : fact->value;
}

std::string text_of(const Selection& part) {
  if (part.all()) return "all";
  std::string text;
  for (const FrameRange& range : part.ranges)
    text += (text.empty() ? "" : ",") + std::to_string(range.first) + "-" +
            (range.last == FrameRange{}.last ? "" : std::to_string(range.last));
  if (!text.empty()) return text;
  text = "from " + std::to_string(part.start_us) + " us";
  return part.duration_us ? text + " for " + std::to_string(*part.duration_us) + " us" : text;
}

std::string text_of(const Rational& r) {
  return std::to_string(r.num) + "/" + std::to_string(r.den);
}

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", number);
  return text;
}

std::string text_of(const Drops& drops) {
  std::string text;
  const auto add = [&](bool dropped, const std::string& what) {
    if (dropped) text += (text.empty() ? "" : ",") + what;
  };
  add(drops.audio, "audio");
  add(drops.subtitles, "subtitle");
  add(drops.data, "data");
  add(drops.attachments, "attachment");
  add(drops.video, "video");
  add(drops.chapters, "chapters");
  add(drops.tags, "tags");
  for (const int index : std::set(drops.streams.begin(), drops.streams.end()))
    add(true, std::to_string(index));
  return text.empty() ? "none" : text;
}

std::string digest_of(const AVCodecContext& encoder) {
  Sha256 digest;
  digest.add(encoder.extradata, static_cast<std::size_t>(encoder.extradata_size));
  return digest.take();
}

void add_input(const FileSource& source, const SegmentOptions& segments,
               std::vector<JobFact>& facts) {
  const SourceOptions& options = source.options();
  const std::string sample = segments.plan ? segments.plan->sample : "";
  facts.push_back({std::string(input_fact), fingerprint(source, segments, input_fact, sample)});
  facts.push_back({"the part of the input", text_of(options.selection)});
  facts.push_back({"--input-format", options.format});
  facts.push_back({"--rate", text_of(options.rate)});
  if (options.raw)
    facts.push_back({"--raw-format", options.raw->pix_fmt + " " +
                                         std::to_string(options.raw->width) + "x" +
                                         std::to_string(options.raw->height)});
  if (source.format().sample == SampleType::f32)
    facts.push_back({"--white", text_of(static_cast<double>(source.format().white))});
  if (options.video) facts.push_back({"--video", std::to_string(*options.video)});
  if (!options.layer.empty()) facts.push_back({"--layer", options.layer});
  const bool on_gpu = options.gpu && source.why_not_gpu().empty();
  facts.push_back({"the decoding device", on_gpu ? "a GPU" : "the CPU"});
}

void add_additional(const SegmentOptions& segments, std::vector<JobFact>& facts) {
  for (const AdditionalSource& one : segments.additional) {
    const JobPlan::AdditionalInput* planned =
        segments.plan ? segments.plan->find_additional(one.name) : nullptr;
    facts.push_back({one.name, fingerprint(file_source_of(one), segments, one.name,
                                           planned ? planned->sample : "")});
  }
}

void add_output(const Container& container, const SinkOptions& options, const Encoder& encoder,
                std::vector<JobFact>& facts) {
  const AVCodec& codec = *encoder.choice().codec;
  facts.push_back({"the container", container.format->name});
  facts.push_back({"the encoder", codec.name});
  facts.push_back({"the pixel format", name_of(encoder.choice().format)});
  if (options.dither != Dither::none)
    facts.push_back({"--dither", options.dither == Dither::ordered ? "ordered" : "noise"});
  facts.push_back({"--crf", options.crf ? text_of(*options.crf) : "none"});
  facts.push_back({"--lossless", options.lossless ? "given" : "none"});
  std::string vopts;
  for (const auto& [key, value] : options.vopts)
    vopts += (vopts.empty() ? "" : ":") + key + "=" + value;
  facts.push_back({"--vopts", vopts});
  if (options.width > 0)
    facts.push_back({"the size of frames",
                     std::to_string(options.width) + "x" + std::to_string(options.height)});
  facts.push_back({"--drop", text_of(options.drops)});
  if (options.keep_times) facts.push_back({"--keep-times", "given"});
  if (encoder_traits(codec).depends_on_cores)
    facts.push_back({"the number of cores (" + std::string(codec.name) + " depends on it)",
                     std::to_string(av_cpu_count())});
  // The facts include a digest of the encoder's headers, because the headers contain versions of
  // libraries.
  facts.push_back({"the encoder's headers (SHA-256)", digest_of(encoder.context())});
}

}  // namespace

const FileSource& file_source_of(const AdditionalSource& additional) {
  if (const auto* file = dynamic_cast<const FileSource*>(additional.source)) return *file;
  throw InvalidArgument("--segment-frames with " + additional.name + " " + additional.input +
                        " (a stack of slices); give a video or a sequence of pictures");
}

std::string sample_digest(const FileSource& source) {
  constexpr std::int64_t block = 1 << 16, blocks = 64;
  const std::vector<std::string> files = files_of(source.demuxer());
  std::vector<std::int64_t> sizes;
  std::int64_t bytes = 0;
  for (const std::string& path : files) {
    std::error_code code;
    const std::uintmax_t size = std::filesystem::file_size(path, code);
    if (code) throw NoInput("cannot read '" + path + "' (" + code.message() + ")");
    sizes.push_back(static_cast<std::int64_t>(size));
    bytes += sizes.back();
  }
  Sha256 digest;
  std::vector<char> buffer(block);
  const std::int64_t step = std::max((bytes - block) / (blocks - 1), block);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < files.size(); begin += sizes[i++]) {
    digest.add(&sizes[i], sizeof sizes[i]);
    std::ifstream file;
    // The digest treats all files as one long file. It contains the blocks that begin at multiples
    // of `step` bytes, and the last block. This function adds the block at the offset `at` of the
    // current file.
    const auto add = [&](std::int64_t at) {
      if (!file.is_open()) file.open(files[i], std::ios::binary);
      file.clear();
      file.seekg(at);
      file.read(buffer.data(), block);
      digest.add(buffer.data(), static_cast<std::size_t>(file.gcount()));
    };
    for (std::int64_t at = (begin + step - 1) / step * step; at < begin + sizes[i]; at += step)
      add(at - begin);
    if (i + 1 == files.size()) add(std::max<std::int64_t>(sizes[i] - block, 0));
  }
  return std::to_string(bytes) + " bytes, sample " + digest.take();
}

std::vector<JobFact> job_facts(const FileSource& source, const Container& container,
                               const SinkOptions& options, const Encoder& encoder) {
  std::vector<JobFact> facts = {{"the version of lull", version}, {"FFmpeg", library_versions()}};
  facts.push_back({"--segment-frames", std::to_string(options.segments->frames)});
  add_additional(*options.segments, facts);  // added before the facts that depend on it
  facts.insert(facts.end(), options.segments->facts.begin(), options.segments->facts.end());
  // A message reports only the first difference between two lists of facts. The properties of the
  // input come first, so that the message names a changed input, and not the effects of this change
  // on the output.
  add_input(source, *options.segments, facts);
  add_output(container, options, encoder, facts);
  return facts;
}

}  // namespace lull::io
